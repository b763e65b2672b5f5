//! Which heist-bench is run, and how.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::Error;

const NAME: &str = "heist-bench";

/// A heist-bench.
#[derive(Debug, PartialEq, Eq)]
pub enum Program {
    /// A built one.
    Built(PathBuf),
    /// The one that cargo builds here.
    Repository(PathBuf),
}

impl Program {
    /// The one that is `given`, or what can be found.
    ///
    /// A repository goes first: a program beside one that was built for debugging is so too.
    pub fn find(given: Option<&Path>) -> Result<Program, Error> {
        if let Some(path) = given {
            return Ok(Program::Built(path.to_owned()));
        }
        let own = env::current_exe().ok();
        let here = env::current_dir().ok();
        let repository = [here.as_deref(), own.as_deref()].into_iter().flatten().find_map(around);
        if let Some(root) = repository {
            return Ok(Program::Repository(root));
        }
        let beside = own.iter().filter_map(|own| own.parent()).map(Path::to_owned);
        let path = env::var_os("PATH").unwrap_or_default();
        beside
            .chain(env::split_paths(&path))
            .map(|directory| directory.join(NAME))
            .find(|program| program.is_file())
            .map(Program::Built)
            .ok_or(Error::NoProgram)
    }

    /// Runs the benches that `options` name; their results go to `json`. The table and the progress
    /// go to where this program's output goes.
    pub fn measure(&self, json: &Path, options: &[String]) -> Result<(), Error> {
        let mut command = self.command();
        command.args(options).arg("--json").arg(json);
        self.run(command)
    }

    /// Shows what there is.
    pub fn list(&self, benches: &[String]) -> Result<(), Error> {
        let mut command = self.command();
        command.arg("--list").args(benches);
        self.run(command)
    }

    fn command(&self) -> Command {
        match self {
            Program::Built(path) => Command::new(path),
            Program::Repository(root) => {
                let mut command = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
                command.args(["run", "--release", "--package", NAME, "--manifest-path"]);
                command.arg(root.join("Cargo.toml")).arg("--");
                command
            }
        }
    }

    fn run(&self, mut command: Command) -> Result<(), Error> {
        let status = command.status().map_err(|source| Error::Start {
            program: command.get_program().to_string_lossy().into_owned(),
            source,
        })?;
        if status.success() { Ok(()) } else { Err(Error::Failed { status }) }
    }
}

/// The repository that `path` is in.
fn around(path: &Path) -> Option<PathBuf> {
    let is_root = |path: &&Path| path.join("crates/heist-bench/Cargo.toml").is_file();
    path.ancestors().find(is_root).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_found_from_within() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
        assert_eq!(around(&root.join("crates/heist-cli/src/bench.rs")), Some(root.clone()));
        assert_eq!(around(&root), Some(root.clone()));
        assert_eq!(around(root.parent().unwrap()), None);
    }

    #[test]
    fn a_repository_is_built_for_release() {
        let command = Program::Repository("/repository".into()).command();
        let args: Vec<_> = command.get_args().map(|arg| arg.to_str().unwrap()).collect();
        assert!(args.contains(&"--release") && args.ends_with(&["/repository/Cargo.toml", "--"]));
    }
}
