// The commands of the core, in the order of the help.

import type { Commands } from './terminal/commands.ts';

export const CORE_COMMANDS: readonly Commands[] = [
  {
    listed: {
      'check [options] <name>':
        'check the delegation of a name and its nameservers from this machine, without a database; exit 1 unless at least two addresses of the parent (or all, if fewer) show a match',
    },
    load: async () => (await import('./check/check.ts')).addCheckCommand,
  },
  {
    listed: {
      'scan [options] <name>':
        'find the records of a domain at its current nameservers, from this machine; exit 1 if there are none',
    },
    load: async () => (await import('./scan/scan.ts')).addScanCommand,
  },
  {
    listed: {
      'verify [options] <name>': 'look up the TXT record of a domain now; exit 1 unless it is verified',
    },
    load: async () => (await import('./domain/verify.ts')).addVerifyCommand,
  },
  {
    listed: {
      domain: "customers' domains; names in any case, Unicode or A-labels, with or without the final dot",
    },
    load: async () => (await import('./domain/domain.ts')).addDomainCommands,
  },
  {
    listed: { account: 'manage accounts, which own domains and keys' },
    load: async () => (await import('./account/account.ts')).addAccountCommands,
  },
  {
    listed: { key: 'manage API keys of accounts' },
    load: async () => (await import('./account/key.ts')).addKeyCommands,
  },
  {
    listed: {
      'audit [options]': 'list the audit log, newest first: who changed what, and from which address',
    },
    load: async () => (await import('./account/audit.ts')).addAuditCommand,
  },
  {
    listed: { plan: 'manage plans: the entitlements of domains and their prices' },
    load: async () => (await import('./account/plan.ts')).addPlanCommands,
  },
  {
    listed: { zone: 'manage operator zones, which are loaded unchanged, with their own SOA and NS' },
    load: async () => (await import('./zone/zone.ts')).addZoneCommands,
  },
  {
    listed: { dnssec: 'manage the zones that the fleet signs, and their keys' },
    load: async () => (await import('./dnssec/dnssec.ts')).addDnssecCommands,
  },
  {
    listed: { node: 'manage the nameserver nodes of the fleet' },
    load: async () => (await import('./node/node.ts')).addNodeCommands,
  },
  {
    listed: {
      'nameservers [options]':
        'show the A, AAAA and glue records of the nameserver pool and how much of it is assigned, and check that it works; exit 1 if not',
    },
    load: async () => (await import('./nameservers/nameservers.ts')).addNameserverCommand,
  },
  {
    listed: { vantage: 'manage observers in other networks, which confirm the results of checks' },
    load: async () => (await import('./vantage/vantage.ts')).addVantageCommands,
  },
  {
    listed: { edge: 'manage edge nodes: the proxies whose addresses are published for proxied records' },
    load: async () => (await import('./edge/edge.ts')).addEdgeCommands,
  },
  {
    listed: {
      breaker: 'stops status changes to moved or disabled while unusually many domains change together',
    },
    load: async () => (await import('./check/breaker.ts')).addBreakerCommands,
  },
  {
    listed: {
      'migrate [options]': 'migrate the schema and store the settings that DNS answers depend on',
    },
    load: async () => (await import('./node/migrate.ts')).addMigrateCommand,
  },
  {
    listed: {
      'run <process>':
        'run nameserver, api, workers or vantage in the foreground, with settings from the environment',
    },
    load: async () => (await import('./run.ts')).addRunCommand,
  },
];
