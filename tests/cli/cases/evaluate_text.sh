# Two cycles: with everything open the second names the cause, level by level it does not.
pythia evaluate --strategy all,hierarchical --problem numeric,null --seeds 2 --cycles 2
