// The processes that `zonefleet run` starts, by name.

export const PROGRAMS = {
  nameserver: 'src/nameserver/main.ts',
  api: 'src/api/main.ts',
  workers: 'workers/main.ts',
  vantage: 'workers/observer/main.ts',
};
