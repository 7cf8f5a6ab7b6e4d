// Finds the program and says how it is started. Nothing is downloaded: a program that runs on every
// file is the user's choice.

import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";

export interface Search {
  /** The setting `probity.path`. */
  configured: string;
  path: string;
  home: string;
}

export function here(configured: string): Search {
  return { configured, path: process.env.PATH ?? "", home: homedir() };
}

/** The first program that can be run, or undefined. */
export function find(search: Search): string | undefined {
  if (search.configured !== "") {
    const named = search.configured.replace(/^~(?=\/)/, search.home);
    return canRun(named) ? named : undefined;
  }
  const directories = [
    // A relative directory would belong to whoever wrote the workspace.
    ...search.path.split(delimiter).filter((directory) => isAbsolute(directory)),
    join(search.home, ".cargo/bin"),
    join(search.home, ".local/bin"),
  ];
  return directories.map((directory) => join(directory, "probity")).find(canRun);
}

/**
 * How the server is started: in a directory of the extension's own. A workspace as the working
 * directory could hold programs and configuration that the server or an agent would find there.
 */
export function launch(program: string, args: string[], storage: string) {
  mkdirSync(storage, { recursive: true, mode: 0o700 });
  return { command: program, args, options: { cwd: storage } };
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return isAbsolute(file) && statSync(file).isFile();
  } catch {
    return false;
  }
}
