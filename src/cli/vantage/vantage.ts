// `zonefleet vantage …`: manages observers in other networks, which must confirm status changes (docs/rules.md "Vantage points").

import type { Command } from 'commander';
import type { AsnOf } from '../../checks/child/observation.ts';
import { areAsked, inForce, type Voice, voicesOf } from '../../checks/vantage/voices.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { StoredVantage } from '../../store/vantage/vantages.ts';
import type { Cli } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import { Failure } from '../terminal/failure.ts';
import type { Output } from '../terminal/output.ts';
import { printTable } from '../terminal/print-table.ts';

const NETWORK = /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/;

export function addVantageCommands(program: Command, cli: Cli): void {
  const vantage = commandOf(program, 'vantage');
  vantage
    .command('add')
    .description('add an observer and print its private key once; exit 1 if one with this name exists')
    .argument('<name>', '1 to 63 lowercase letters, digits and hyphens')
    .requiredOption('--network <label>', 'label of its network; observers in the same network count as one')
    .option('--address <address>', 'address of the observer, if a proxy in front of the API hides it')
    .action((name: string, options: AddOptions) => addOne(cli, name, options));
  vantage
    .command('list')
    .description('list the observers, and which of them count as one')
    .action(() => cli.withStore((db) => showVantages(db, cli)));
  vantage
    .command('remove')
    .description('remove an observer, so that no status change waits for it; exit 1 if it does not exist')
    .argument('<name>')
    .action((name: string) => removeOne(cli, name));
}

interface AddOptions {
  readonly network: string;
  readonly address?: string;
}

async function addOne(cli: Cli, name: string, { network, address }: AddOptions): Promise<void> {
  const { fingerprintOf, isVantageName, makeVantageKey } = await import('../../process/vantage-signature.ts');
  const { addVantage, MOST_VANTAGES } = await import('../../store/vantage/vantages.ts');
  const { canonicalAddress } = await import('../../zone/pool/address-lists.ts');
  if (!isVantageName(name))
    throw new Failure('usage', `${name}: a name is 1 to 63 lowercase letters, digits and hyphens`);
  if (!NETWORK.test(network))
    throw new Failure(
      'usage',
      `--network ${network}: a label is 1 to 32 lowercase letters, digits and hyphens`,
    );
  const known = address === undefined ? null : canonicalAddress(address);
  if (known === undefined) throw new Failure('usage', `--address ${address}: not an IP address`);
  const { output } = cli;
  await cli.withStore(async (db) => {
    const { privateKey, publicKey } = makeVantageKey();
    const added = await cli.audited(db, 'vantage.add', async (trx, tell) => {
      const outcome = await addVantage(trx, { name, network, publicKey, address: known });
      const after = { network, address: known, fingerprint: fingerprintOf(publicKey) };
      if (outcome === 'added') tell({ target: { name }, after });
      return outcome;
    });
    if (added !== 'added') {
      const error =
        added === 'exists'
          ? 'already exists'
          : `there are already ${MOST_VANTAGES} observers, which is the limit`;
      if (output.json) await output.print(JSON.stringify({ name, outcome: 'refused', error }));
      else await output.complain(`${name}: ${error}`);
      return 1;
    }
    const fingerprint = fingerprintOf(publicKey);
    if (output.json) {
      await output.print(JSON.stringify({ name, outcome: 'added', network, key: privateKey, fingerprint }));
      return 0;
    }
    await output.print(privateKey);
    await output.complain(`the key of ${name} (${fingerprint}); it will not be shown again`);
    const left = await describe(db, cli);
    for (const line of left.hints) await output.complain(line);
    return 0;
  });
}

async function removeOne(cli: Cli, name: string): Promise<void> {
  const { removeVantage } = await import('../../store/vantage/vantages.ts');
  const { output } = cli;
  await cli.withStore(async (db) => {
    const isGone = await cli.audited(db, 'vantage.remove', async (trx, tell) => {
      const wasThere = await removeVantage(trx, name);
      if (wasThere) tell({ target: { name } });
      return wasThere;
    });
    if (output.json) await output.print(JSON.stringify({ name, outcome: isGone ? 'removed' : 'absent' }));
    else if (isGone) await output.print(`removed ${name}`);
    else await output.complain(`${name}: no such observer`);
    if (isGone && !output.json)
      for (const line of (await describe(db, cli)).hints) await output.complain(line);
    return isGone ? 0 : 1;
  });
}

interface Described {
  readonly vantages: readonly StoredVantage[];
  readonly voices: readonly Voice[];
  readonly isAsked: boolean;
  /** Advice for the operator, one line each. */
  readonly hints: readonly string[];
}

async function describe(db: Database, cli: Cli): Promise<Described> {
  const { listVantages } = await import('../../store/vantage/vantages.ts');
  const { openAsnDb } = await import('../../resolver/asn-db.ts');
  const asnOf: AsnOf | undefined = await openAsnDb((await cli.settings()).asnDb);
  const vantages = await listVantages(db);
  const known = inForce(vantages);
  const voices = voicesOf(known, asnOf);
  const isAsked = areAsked(known);
  const unseen = vantages.filter(({ seenAt }) => seenAt === null).map(({ name }) => name);
  return { vantages, voices, isAsked, hints: [...unseenHints(unseen), ...hintsOf(voices, isAsked)] };
}

function unseenHints(unseen: readonly string[]): string[] {
  if (unseen.length === 0) return [];
  const verb = unseen.length === 1 ? 'has' : 'have';
  return [`${unseen.join(', ')} ${verb} not run yet: an observer counts from its first request on`];
}

function hintsOf(voices: readonly Voice[], isAsked: boolean): string[] {
  if (!isAsked)
    return [
      'status changes are not confirmed: that requires observers in at least two networks that have run',
    ];
  const hints = voices
    .filter(({ label }) => label.includes('+'))
    .map(
      ({ label, vantages }) =>
        `${vantages.join(', ')} count as one (${label}): their addresses are in the same network; if that is a proxy in front of the API, remove them and add them with --address`,
    );
  if (voices.length < 2)
    hints.push(
      'changes wait: with only one voice, domains become active but are not moved, disabled or handed over',
    );
  return hints;
}

async function showVantages(db: Database, cli: Cli): Promise<number> {
  const { fingerprintOf } = await import('../../process/vantage-signature.ts');
  const { output } = cli;
  const described = await describe(db, cli);
  const { vantages, voices, isAsked, hints } = described;
  const voiceOf = ({ name }: StoredVantage) =>
    voices.find((voice) => voice.vantages.includes(name))?.label ?? null;
  if (output.json) {
    const listed = vantages.map((vantage) => ({
      name: vantage.name,
      network: vantage.network,
      voice: voiceOf(vantage),
      address: vantage.address,
      fingerprint: fingerprintOf(vantage.publicKey),
      created_at: vantage.createdAt.toISOString(),
      seen_at: vantage.seenAt?.toISOString() ?? null,
      answers: vantage.answers,
      dropped: vantage.dropped,
    }));
    await output.print(JSON.stringify({ vantages: listed, voices: voices.length, asked: isAsked, hints }));
    return 0;
  }
  await printList(vantages, { output, voiceOf, fingerprintOf });
  for (const hint of hints) await output.complain(hint);
  return 0;
}

async function printList(
  vantages: readonly StoredVantage[],
  {
    output,
    voiceOf,
    fingerprintOf,
  }: {
    readonly output: Output;
    /** Null if the observer has never run. */
    readonly voiceOf: (vantage: StoredVantage) => string | null;
    readonly fingerprintOf: (publicKey: string) => string;
  },
): Promise<void> {
  const heads = ['NAME', 'NETWORK', 'VOICE', 'SEEN', 'ADDRESS', 'ANSWERS', 'DROPPED', 'KEY'];
  const rows = vantages.map((vantage) => [
    vantage.name,
    vantage.network,
    voiceOf(vantage) ?? '-',
    agoOf(vantage),
    vantage.address ?? '-',
    vantage.answers,
    vantage.dropped,
    fingerprintOf(vantage.publicKey),
  ]);
  await output.print(printTable(heads, rows));
}

function agoOf({ seenAt, now }: StoredVantage): string {
  if (seenAt === null) return 'never';
  return `${Math.max(0, Math.round((now.getTime() - seenAt.getTime()) / 1000))} s ago`;
}
