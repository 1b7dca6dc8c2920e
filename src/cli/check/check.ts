// `zonefleet check NAME`: checks the delegation of a name, and its nameservers, from this machine. It uses the worker's code and
// the nameserver sets in the settings. It needs no database and changes nothing.

import type { Command } from 'commander';
import type { ChildFinding } from '../../checks/child/child-findings.ts';
import type { ChildEvidence } from '../../checks/child/evidence.ts';
import { judgeChild } from '../../checks/child/judge-child.ts';
import type { Expected } from '../../checks/delegation/check-state.ts';
import type { Evidence } from '../../checks/delegation/evidence.ts';
import { judgeDelegation } from '../../checks/delegation/judge-delegation.ts';
import { type Name, ROOT } from '../../dns/name.ts';
import { combinationIn } from '../../zone/pool/combinations.ts';
import { expandPool } from '../../zone/pool/pool.ts';
import type { Cli, CliSettings } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import { Failure } from '../terminal/failure.ts';
import { INTERRUPTED } from '../terminal/output.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';
import { type GivenServers, readGivenServers, readProfileFile } from './read-check-options.ts';

interface CheckOptions {
  readonly profile?: string;
  readonly ns?: readonly string[];
}

export function addCheckCommand(program: Command, cli: Cli): void {
  commandOf(program, 'check')
    .argument('<name>', "the domain's name")
    .option(
      '--profile <file>',
      'JSON file that sets which findings about its nameservers are reported, and their severity',
    )
    .option(
      '--ns <name/address...>',
      'test these nameservers before the name is delegated to them, without querying the parent; exit 1 if any finding is an error',
    )
    .action(async (text: string, { profile: path, ns }: CheckOptions) => {
      const domain = parseZoneName(text);
      if (domain === ROOT) throw new Failure('usage', 'the root has no parent zone that could delegate it');
      const profile = await readProfileFile(path);
      const settings = await cli.settings();
      const { openAsnDb } = await import('../../resolver/asn-db.ts');
      const asnOf = await openAsnDb(settings.asnDb);
      const own = new Set(ourNames(settings));
      const judge = (evidence: ChildEvidence) => judgeChild(evidence, { own, asnOf, profile });
      const wanted = { domain, settings, judge };
      cli.exitCode = await (ns === undefined
        ? checkName(wanted, cli)
        : testServers(wanted, readGivenServers(ns), cli));
    });
}

interface Wanted {
  readonly domain: Name;
  readonly settings: CliSettings;
  readonly judge: (evidence: ChildEvidence) => ChildFinding[];
}

async function checkName({ domain, settings, judge }: Wanted, cli: Cli): Promise<number> {
  const { observeFromHere } = await import('../terminal/observe-from-here.ts');
  const { evidenceJson, printEvidence } = await import('./print-evidence.ts');
  const { childJson, printChild } = await import('./print-child.ts');
  const signal = cli.interruptible();
  const both = await observeFromHere({ settings, signal }, async (resolver) => {
    const evidence = await resolver.observeDelegation(domain, { signal });
    // It matters which nameservers are ours only if the parent's servers also serve the domain.
    const needsOurs = evidence.servers.some(({ showsCut }) => showsCut === true);
    const ourAddresses = needsOurs
      ? await findOurs(settings, (names) => resolver.findAllAddresses(names, { signal }))
      : undefined;
    const expected: Expected = {
      ...expectedBy(settings, evidence),
      ...(ourAddresses !== undefined && { ourAddresses }),
    };
    const judgement = judgeDelegation(evidence, expected);
    const isDelegated = (judgement.observed ?? []).length > 0;
    const child = isDelegated ? await resolver.observeChild(domain, { signal }) : undefined;
    return { evidence, expected, judgement, child };
  });
  if (both === undefined) return INTERRUPTED;
  const { evidence, expected, judgement, child } = both;
  const setsAreExamples = settings.nameserverSetsAreDefault === true;
  const observed = { evidence, judgement, expected, setsAreExamples };
  const looked = child && { evidence: child, findings: judge(child) };
  const { output } = cli;
  const { colours } = output;
  await output.print(
    output.json
      ? JSON.stringify({ ...evidenceJson(observed), child: looked === undefined ? null : childJson(looked) })
      : [printEvidence(observed, { colours }), ...(looked ? [printChild(looked, { colours })] : [])].join(
          '\n\n',
        ),
  );
  const { verdict, confirmed, staleDs } = judgement;
  return verdict === 'match' && confirmed && !staleDs ? 0 : 1;
}

async function testServers(
  { domain, settings, judge }: Wanted,
  given: GivenServers,
  cli: Cli,
): Promise<number> {
  const { observeFromHere } = await import('../terminal/observe-from-here.ts');
  const { childJson, printChild } = await import('./print-child.ts');
  const signal = cli.interruptible();
  const evidence = await observeFromHere({ settings, signal }, (resolver) =>
    resolver.observeChild(domain, { signal, given }),
  );
  if (evidence === undefined) return INTERRUPTED;
  const looked = { evidence, findings: judge(evidence) };
  const { output } = cli;
  await output.print(
    output.json ? JSON.stringify(childJson(looked)) : printChild(looked, { colours: output.colours }),
  );
  return looked.findings.some(({ severity }) => severity === 'error') ? 1 : 0;
}

/** With a pool, accepts any combination: without a database it is unknown which account a combination belongs to. */
function expectedBy(settings: CliSettings, { servers }: Evidence): Expected {
  const sets = setsOf(settings);
  const lists = expandPool(settings.answers.nameserverPool ?? [], [])?.lists ?? [];
  const shown = servers.flatMap(({ ns }) => combinationIn(lists, ns) ?? []);
  const own = shown.length === 0 ? [] : [[...new Set(shown)]];
  return { sets: [...own, ...sets], ours: new Set(ourNames(settings)) };
}

/** The names of all our nameservers. */
function ourNames(settings: CliSettings): readonly Name[] {
  const lists = expandPool(settings.answers.nameserverPool ?? [], [])?.lists ?? [];
  return [...setsOf(settings).flat(), ...lists.flat()];
}

/** Takes the addresses of the pool from the settings and looks up those of sets. Returns undefined if one is not found. */
async function findOurs(
  settings: CliSettings,
  look: (names: readonly Name[]) => Promise<ReadonlySet<string> | undefined>,
): Promise<ReadonlySet<string> | undefined> {
  const names = setsOf(settings).flat();
  const ofPool = settings.answers.nameserverAddresses?.flat() ?? [];
  const ofSets = names.length === 0 ? [] : await look(names);
  return ofSets && new Set([...ofPool, ...ofSets]);
}

function setsOf({ answers }: CliSettings): Expected['sets'] {
  return answers.nameserverSets.map((set) => set.map(parseZoneName));
}
