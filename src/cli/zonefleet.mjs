#!/usr/bin/env node
// The bin of the package: `npx zonefleet …`. Installs missing dependencies as `npm start` does, then runs main.ts, or the
// process that `zonefleet run` names.

import { PROGRAMS } from './programs.mjs';

const [command, name, ...others] = process.argv.slice(2);
if (command === 'run' && Object.hasOwn(PROGRAMS, name ?? '') && others.length === 0) {
  process.argv.splice(2, 2, PROGRAMS[name]);
} else {
  process.argv.splice(2, 0, 'src/cli/main.ts');
}
await import('../start/run.mjs');
