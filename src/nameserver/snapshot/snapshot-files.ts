// The file names of a snapshot. Each generation has a base and a log.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const FILE = /^zones\.(\d{1,15})\.(image|log|image\.tmp)$/;

export class SnapshotFiles {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  file(generation: number, kind: 'image' | 'log'): string {
    return join(this.directory, `zones.${generation}.${kind}`);
  }

  /** Returns the generations that have files, newest first. */
  generations(): number[] {
    const found = new Set(this.#list().map(({ generation }) => generation));
    return [...found].sort((a, b) => b - a);
  }

  /**
   * Removes the files of all other generations. Also removes directories with such names, which every start would find again.
   */
  keepOnly(generation: number): void {
    for (const found of this.#list()) {
      if (found.generation !== generation)
        rmSync(join(this.directory, found.name), { force: true, recursive: true });
    }
  }

  #list(): { name: string; generation: number }[] {
    let names: string[];
    try {
      names = readdirSync(this.directory);
    } catch {
      return []; // none has been written yet, or the directory is not readable
    }
    return names.flatMap((name) => {
      const [, generation] = FILE.exec(name) ?? [];
      return generation === undefined ? [] : [{ name, generation: Number(generation) }];
    });
  }
}
