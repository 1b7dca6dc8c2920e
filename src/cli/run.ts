// `zonefleet run`: describes and checks the command. `zonefleet.mjs` starts the process instead of the command line.

import { Argument, type Command } from 'commander';
import { PROGRAMS } from './programs.mjs';
import { commandOf } from './terminal/commands.ts';
import { Failure } from './terminal/failure.ts';

export function addRunCommand(program: Command): void {
  commandOf(program, 'run')
    .addArgument(new Argument('<process>', 'the process').choices(Object.keys(PROGRAMS)))
    .action(() => {
      throw new Failure('usage', 'run accepts only the name of a process');
    });
}
