"""Jobs: commands of the lab that boot several guests and compare their recordings."""
