// `zonefleet tsig …`, `peer …`, `policy …`, `transfers`, `zone policy` and `zone notify`: transfers of zones to other
// operators.

import type { Command } from 'commander';
import type { Cli } from '../../cli/terminal/cli.ts';
import { commandOf } from '../../cli/terminal/commands.ts';
import type { TlsOptions } from './cli-peer-tls.ts';
import type { AddPeerOptions } from './cli-peers.ts';

export function addTransferCommands(program: Command, cli: Cli): void {
  addTsigCommands(program, cli);
  addPeerCommands(program, cli);
  addPolicyCommands(program, cli);
  commandOf(program, 'transfers')
    .argument('<name...>', 'zone names')
    .action(async (names: string[]) => (await import('./cli-show.ts')).showTransfers(cli, names));
  const zone = commandOf(program, 'zone');
  zone
    .command('policy')
    .description('give zones a transfer policy; exit 1 if a zone does not exist')
    .argument('<name...>', 'zone names')
    .option('--policy <policy>', 'name of the policy')
    .option('--default', 'use the default policy')
    .action(async (names: string[], options: { policy?: string; default?: true }) =>
      (await import('./cli-policies.ts')).giveZonesPolicy(cli, names, options),
    );
  zone
    .command('notify')
    .description('send NOTIFY for zones to their peers again; exit 1 if a zone does not exist')
    .argument('<name...>', 'zone names')
    .action(async (names: string[]) => (await import('./cli-policies.ts')).notifyZones(cli, names));
}

function addTsigCommands(program: Command, cli: Cli): void {
  const tsig = commandOf(program, 'tsig');
  const algorithm = [
    '--algorithm <algorithm>',
    'hmac-sha256, hmac-sha384 or hmac-sha512',
    'hmac-sha256',
  ] as const;
  tsig
    .command('create')
    .description('create a key with a random secret, and show it once')
    .argument('<label>', "first part of the key's name")
    .option(...algorithm)
    .action(async (label: string, options: { algorithm: string }) =>
      (await import('./cli-keys.ts')).createKeyFor(cli, label, options),
    );
  tsig
    .command('import')
    .description('store the key of a primary')
    .argument('<name>', "the key's name")
    .argument('[secret]', 'the secret in base64; if omitted, it is read from standard input')
    .option(...algorithm)
    .action(async (name: string, secret: string | undefined, options: { algorithm: string }) =>
      (await import('./cli-keys.ts')).importKeyOf(cli, name, { ...options, secret }),
    );
  tsig
    .command('list')
    .description('list the keys of the operator, without their secrets')
    .action(async () => (await import('./cli-keys.ts')).listAllKeys(cli));
  tsig
    .command('revoke')
    .description('revoke a key permanently; nodes apply this within 5 seconds')
    .argument('<name>', "the key's name")
    .option('--force', 'even if a peer uses the key, whose messages are then refused, or if it has grants')
    .action(async (name: string, options: { force?: true }) =>
      (await import('./cli-keys.ts')).revokeKeyOf(cli, name, options),
    );
}

const TLS_OPTION = ['--tls <mode>', 'TLS for transfers: off, opportunistic or strict'] as const;
const TLS_NAME_OPTION = ['--tls-name <name>', "name that the peer's certificate must have (strict)"] as const;
const TLS_PIN_OPTION = ['--tls-pin <pin...>', "SHA-256 of the peer's public key in base64 (strict)"] as const;
const TLS_PORT_OPTION = [
  '--tls-port <port>',
  "the peer's port for transfers over TLS (default: 853)",
] as const;

function addPeerCommands(program: Command, cli: Cli): void {
  const peer = commandOf(program, 'peer');
  peer
    .command('add')
    .description('add a peer; policies and secondaries refer to it by its name')
    .argument('<name>', 'a name for the peer')
    .option('--to <address...>', 'addresses to send to, such as 192.0.2.53 or [2001:db8::53]:5353')
    .option('--from <network...>', 'networks from which the peer may transfer (default: any, with its key)')
    .option('--key <key>', "name of the peer's TSIG key")
    .option(...TLS_OPTION, 'off')
    .option(...TLS_NAME_OPTION)
    .option(...TLS_PIN_OPTION)
    .option(...TLS_PORT_OPTION)
    .action(async (name: string, options: AddPeerOptions) =>
      (await import('./cli-peers.ts')).addPeerNamed(cli, name, options),
    );
  peer
    .command('set')
    .description('replace the TLS settings of a peer; nodes apply this within 5 seconds')
    .argument('<name>', "the peer's name")
    .requiredOption(...TLS_OPTION)
    .option(...TLS_NAME_OPTION)
    .option(...TLS_PIN_OPTION)
    .option(...TLS_PORT_OPTION)
    .action(async (name: string, options: TlsOptions) =>
      (await import('./cli-peers.ts')).setPeerNamed(cli, name, options),
    );
  peer
    .command('list')
    .description('list the peers')
    .action(async () => (await import('./cli-peers.ts')).listAllPeers(cli));
  peer
    .command('remove')
    .description('remove a peer that no policy lists and that is no primary')
    .argument('<name>', "the peer's name")
    .action(async (name: string) => (await import('./cli-peers.ts')).removePeerNamed(cli, name));
}

function addPolicyCommands(program: Command, cli: Cli): void {
  const policy = commandOf(program, 'policy');
  policy
    .command('set')
    .description('create a policy, or replace its peers')
    .argument('<name>', 'name of the policy; "default" applies to zones that have no policy of their own')
    .option('--transfer <peer...>', 'peers that may transfer')
    .option('--notify <peer...>', 'peers that receive NOTIFY')
    .action(async (name: string, options: { transfer?: string[]; notify?: string[] }) =>
      (await import('./cli-policies.ts')).setPolicyNamed(cli, name, options),
    );
  policy
    .command('list')
    .description('list the policies')
    .action(async () => (await import('./cli-policies.ts')).listAllPolicies(cli));
  policy
    .command('remove')
    .description('remove a policy that no zone has as its own')
    .argument('<name>', 'name of the policy')
    .action(async (name: string) => (await import('./cli-policies.ts')).removePolicyNamed(cli, name));
}
