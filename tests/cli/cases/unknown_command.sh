pythia rplay x
