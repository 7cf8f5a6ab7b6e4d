export PATH=/opt/conda/envs/analysis/bin:$PATH
