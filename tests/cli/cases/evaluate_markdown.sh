pythia evaluate --strategy all,hierarchical --problem numeric,null --seeds 2 --cycles 2 --format markdown
