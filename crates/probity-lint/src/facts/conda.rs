//! Conda: its images, its calls, and what PyPI and Debian call its packages.
//!
//! Conda's names are not PyPI's: `pytables` is `tables`, and a name that PyPI lacks is one that anybody may
//! register. Only names of this file count as known.

use probity_shell::Call;

/// What a package of conda is elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CondaPackage {
    /// Python itself, which the image brings.
    Python,
    /// Names on PyPI, any of which will do.
    Wheel(Vec<&'static str>),
    /// A package of Debian.
    System(&'static str),
    /// It chooses a build of others, or every Python image has it.
    Nothing,
}

/// One call of conda or of its sisters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CondaCall {
    /// Packages as they are asked for, such as `numpy=1.26`.
    Install(Vec<String>),
    /// It changes nothing that an image without conda would need.
    Helper,
    /// Anything else.
    Other,
}

/// Programs that install conda's packages.
pub const CONDA_PROGRAMS: &[&str] = &["conda", "mamba", "micromamba"];

const IMAGES: &[&str] = &[
    "conda/miniconda3",
    "condaforge/mambaforge",
    "condaforge/miniforge3",
    "continuumio/miniconda3",
    "ghcr.io/mamba-org/micromamba",
    "mambaorg/micromamba",
    "quay.io/condaforge/mambaforge",
    "quay.io/condaforge/miniforge3",
];

const CHANNELS: &[&str] = &["anaconda", "conda-forge", "defaults", "main", "pytorch"];

const VALUED: &[&str] = &["-n", "--name", "-p", "--prefix", "-r", "--root-prefix", "--solver"];

const FLAGS: &[&str] = &[
    "-q",
    "-qy",
    "-y",
    "-yq",
    "--copy",
    "--freeze-installed",
    "--no-default-packages",
    "--no-pin",
    "--no-py-pin",
    "--no-rc",
    "--override-channels",
    "--quiet",
    "--strict-channel-priority",
    "--yes",
];

/// Names that differ, and what PyPI calls them.
const RENAMED: &[(&str, &[&str])] = &[
    ("dask", &["dask[complete]"]),
    ("dask-core", &["dask"]),
    ("faiss", &["faiss-cpu"]),
    ("matplotlib-base", &["matplotlib"]),
    ("msgpack-python", &["msgpack"]),
    ("opencv", &["opencv-python", "opencv-python-headless"]),
    ("ortools-python", &["ortools"]),
    ("psycopg2", &["psycopg2", "psycopg2-binary"]),
    ("py-opencv", &["opencv-python", "opencv-python-headless"]),
    ("py-xgboost", &["xgboost"]),
    ("py-xgboost-cpu", &["xgboost"]),
    ("pysoundfile", &["soundfile"]),
    ("pytables", &["tables"]),
    ("python-confluent-kafka", &["confluent-kafka"]),
    ("python-duckdb", &["duckdb"]),
    ("python-graphviz", &["graphviz"]),
    ("python-igraph", &["igraph"]),
    ("python-kaleido", &["kaleido"]),
    ("pytorch", &["torch"]),
    ("pytorch-cpu", &["torch"]),
    ("redis-py", &["redis"]),
    ("seaborn-base", &["seaborn"]),
    ("uvicorn-standard", &["uvicorn[standard]"]),
];

const SYSTEM: &[(&str, &str)] = &[
    ("curl", "curl"),
    ("ffmpeg", "ffmpeg"),
    ("git", "git"),
    ("graphviz", "graphviz"),
    ("jq", "jq"),
    ("libgomp", "libgomp1"),
    ("pandoc", "pandoc"),
    ("poppler", "poppler-utils"),
    ("tesseract", "tesseract-ocr"),
    ("tini", "tini"),
    ("unzip", "unzip"),
    ("wget", "wget"),
];

const NOTHING: &[&str] = &[
    "blas",
    "ca-certificates",
    "conda",
    "cpuonly",
    "libblas",
    "llvm-openmp",
    "mamba",
    "mkl",
    "nomkl",
    "openblas",
    "openssl",
    "pip",
    "wheel",
];

/// Packages that PyPI has as wheels by the same name.
const SAME: &[&str] = &[
    "accelerate",
    "aiofiles",
    "aiohttp",
    "alembic",
    "altair",
    "anndata",
    "anyio",
    "arrow",
    "astropy",
    "asyncpg",
    "attrs",
    "awscli",
    "bcrypt",
    "beautifulsoup4",
    "biopython",
    "black",
    "bokeh",
    "boto3",
    "botocore",
    "cachetools",
    "cartopy",
    "catboost",
    "celery",
    "certifi",
    "cftime",
    "click",
    "cloudpickle",
    "confluent-kafka",
    "cryptography",
    "cvxpy",
    "cython",
    "dash",
    "datasets",
    "diffusers",
    "distributed",
    "django",
    "djangorestframework",
    "duckdb",
    "einops",
    "elasticsearch",
    "eventlet",
    "faiss-cpu",
    "fastapi",
    "fastparquet",
    "feedparser",
    "filelock",
    "fiona",
    "flask",
    "flask-cors",
    "flask-sqlalchemy",
    "folium",
    "fsspec",
    "gcsfs",
    "gensim",
    "geopandas",
    "geopy",
    "gevent",
    "greenlet",
    "grpcio",
    "grpcio-tools",
    "gunicorn",
    "h5netcdf",
    "h5py",
    "hdbscan",
    "holoviews",
    "httptools",
    "httpx",
    "hypercorn",
    "igraph",
    "imageio",
    "imageio-ffmpeg",
    "imbalanced-learn",
    "ipykernel",
    "ipython",
    "ipywidgets",
    "itsdangerous",
    "jax",
    "jaxlib",
    "jinja2",
    "joblib",
    "jsonschema",
    "jupyter",
    "jupyterlab",
    "kafka-python",
    "keras",
    "librosa",
    "lightgbm",
    "lightning",
    "llvmlite",
    "loguru",
    "lxml",
    "mako",
    "markdown",
    "markupsafe",
    "marshmallow",
    "matplotlib",
    "mlflow",
    "motor",
    "msgpack",
    "nbconvert",
    "netcdf4",
    "networkx",
    "nltk",
    "notebook",
    "numba",
    "numexpr",
    "numpy",
    "omegaconf",
    "onnx",
    "onnxruntime",
    "openpyxl",
    "optuna",
    "orjson",
    "packaging",
    "pandas",
    "panel",
    "papermill",
    "paramiko",
    "passlib",
    "patsy",
    "peewee",
    "peft",
    "pillow",
    "plotly",
    "polars",
    "prefect",
    "prometheus_client",
    "prophet",
    "protobuf",
    "psutil",
    "psycopg",
    "psycopg2-binary",
    "pulp",
    "pyarrow",
    "pycryptodome",
    "pydantic",
    "pydantic-settings",
    "pydub",
    "pyjwt",
    "pymc",
    "pymongo",
    "pymysql",
    "pyopenssl",
    "pypandoc",
    "pyproj",
    "pysam",
    "pyspark",
    "pytest",
    "python-dateutil",
    "python-dotenv",
    "python-multipart",
    "python-snappy",
    "pytorch-lightning",
    "pytz",
    "pywavelets",
    "pyyaml",
    "pyzmq",
    "rasterio",
    "rdkit",
    "redis",
    "regex",
    "requests",
    "rich",
    "rtree",
    "ruamel.yaml",
    "ruff",
    "s3fs",
    "scanpy",
    "scikit-image",
    "scikit-learn",
    "scipy",
    "seaborn",
    "sentence-transformers",
    "sentencepiece",
    "sentry-sdk",
    "setuptools",
    "shap",
    "shapely",
    "simplejson",
    "six",
    "snowflake-connector-python",
    "soundfile",
    "spacy",
    "sqlalchemy",
    "sqlmodel",
    "starlette",
    "statsmodels",
    "streamlit",
    "structlog",
    "sympy",
    "tables",
    "tabulate",
    "tenacity",
    "tensorboard",
    "tensorflow",
    "tensorflow-cpu",
    "threadpoolctl",
    "tokenizers",
    "toml",
    "toolz",
    "torchaudio",
    "torchvision",
    "tornado",
    "tqdm",
    "transformers",
    "typer",
    "typing-extensions",
    "typing_extensions",
    "tzdata",
    "ujson",
    "umap-learn",
    "urllib3",
    "uvicorn",
    "uvloop",
    "voila",
    "waitress",
    "wandb",
    "websockets",
    "werkzeug",
    "xarray",
    "xgboost",
    "xlrd",
    "xlsxwriter",
    "zarr",
];

/// What a package of conda is elsewhere; none where nobody knows.
#[must_use]
pub fn conda_package(name: &str) -> Option<CondaPackage> {
    if name == "python" {
        return Some(CondaPackage::Python);
    }
    if let Some((_, names)) = RENAMED.iter().find(|(conda, _)| *conda == name) {
        return Some(CondaPackage::Wheel(names.to_vec()));
    }
    if let Some(same) = SAME.iter().find(|same| **same == name) {
        return Some(CondaPackage::Wheel(vec![same]));
    }
    if let Some((_, package)) = SYSTEM.iter().find(|(conda, _)| *conda == name) {
        return Some(CondaPackage::System(package));
    }
    NOTHING.contains(&name).then_some(CondaPackage::Nothing)
}

/// Whether an image, by its name without the tag, brings conda and little else.
#[must_use]
pub fn is_conda_image(name: &str) -> bool {
    IMAGES.contains(&name)
}

/// A package as conda writes it, without the channel: `numpy=1.26` is `numpy` and `=1.26`.
#[must_use]
pub fn conda_parts(package: &str) -> (&str, &str) {
    let package = package.rsplit_once("::").map_or(package, |(_, package)| package);
    let end = package.find(['=', '<', '>', '!', '~']).unwrap_or(package.len());
    package.split_at_checked(end).unwrap_or((package, ""))
}

/// Reads the words of a call from the program on; none for other programs.
#[must_use]
pub fn conda_call(words: &[String]) -> Option<CondaCall> {
    let (program, rest) = words.split_first()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    CONDA_PROGRAMS.contains(&program).then(|| read(rest))
}

fn read(words: &[String]) -> CondaCall {
    let mut words = words.iter().map(String::as_str);
    let (mut verb, mut named, mut is_odd) = (None, Vec::new(), false);
    while let Some(word) = words.next() {
        let (flag, value) = word.split_once('=').map_or((word, None), |(a, b)| (a, Some(b)));
        match flag {
            "-c" | "--channel" => {
                let channel = value.or_else(|| words.next()).unwrap_or_default();
                is_odd |= !CHANNELS.contains(&channel);
            }
            _ if VALUED.contains(&flag) => drop(value.or_else(|| words.next())),
            _ if word.starts_with('-') => is_odd |= !FLAGS.contains(&word),
            _ if verb.is_none() => verb = Some(word),
            _ => named.push(word.to_owned()),
        }
    }
    let is_own = |name: &String| matches!(conda_parts(name).0, "conda" | "mamba");
    match verb {
        Some("clean" | "config" | "init" | "info" | "list" | "activate" | "deactivate") => {
            CondaCall::Helper
        }
        Some("update" | "install" | "upgrade") if !named.is_empty() && named.iter().all(is_own) => {
            CondaCall::Helper
        }
        Some("install" | "create") if !is_odd => CondaCall::Install(named),
        _ => CondaCall::Other,
    }
}

/// Whether pip of the same Python installs to the same place.
pub(crate) fn is_into_base(call: &Call<'_>) -> bool {
    let environment = call.flag_value(&["-n", "--name"]);
    !call.is_any(&["micromamba"])
        && environment.is_none_or(|(_, name)| name == "base")
        && !call.has_flag(&["-p", "--prefix", "-f", "--file"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_installs_helpers_or_neither() {
        let install = |names: &[&str]| {
            CondaCall::Install(names.iter().map(|name| (*name).to_owned()).collect())
        };
        for (line, expected) in [
            ("conda install -y -c conda-forge numpy=1.26", Some(install(&["numpy=1.26"]))),
            ("/opt/conda/bin/mamba create -n a python=3.11", Some(install(&["python=3.11"]))),
            ("micromamba install -y --name=base flask", Some(install(&["flask"]))),
            ("conda install -c https://example.com/own numpy", Some(CondaCall::Other)),
            ("conda install --no-deps numpy", Some(CondaCall::Other)),
            ("conda install --file a.txt", Some(CondaCall::Other)),
            ("conda env create -f a.yml", Some(CondaCall::Other)),
            ("conda update -n base -c defaults conda", Some(CondaCall::Helper)),
            ("conda clean -afy", Some(CondaCall::Helper)),
            ("pip install numpy", None),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(conda_call(&words), expected, "{line}");
        }
    }

    #[test]
    fn names_lead_to_wheels_packages_or_nowhere() {
        for (name, expected) in [
            ("python", Some(CondaPackage::Python)),
            ("pytables", Some(CondaPackage::Wheel(vec!["tables"]))),
            ("numpy", Some(CondaPackage::Wheel(vec!["numpy"]))),
            ("poppler", Some(CondaPackage::System("poppler-utils"))),
            ("nomkl", Some(CondaPackage::Nothing)),
            ("gdal", None),
        ] {
            assert_eq!(conda_package(name), expected, "{name}");
        }
        assert_eq!(conda_parts("conda-forge::numpy>=1.20"), ("numpy", ">=1.20"));
    }
}
