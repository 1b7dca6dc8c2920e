#!/usr/bin/env node
// The bin of the package: `npx zonefleet …`. Installs missing dependencies as `npm start` does, then runs main.ts.

process.argv.splice(2, 0, 'src/cli/main.ts');
await import('../start/run.mjs');
