// `zonefleet check NAME`: observes the delegation of a name from this machine, now, and judges it by the sets in the
// settings. Observation and judgement are those of a worker, but it needs no database and changes nothing.

import type { Command } from 'commander';
import type { Expected } from '../../checks/delegation/check-state.ts';
import type { Evidence } from '../../checks/delegation/evidence.ts';
import { judgeDelegation } from '../../checks/delegation/judge-delegation.ts';
import { type Name, ROOT } from '../../dns/name.ts';
import { combinationIn } from '../../zone/pool/combinations.ts';
import { expandPool } from '../../zone/pool/pool.ts';
import type { Cli, CliSettings } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { INTERRUPTED } from '../terminal/output.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';

export function addCheckCommand(program: Command, cli: Cli): void {
  program
    .command('check')
    .description(
      'look at the delegation of a name from here, without a database; exit 1 unless a confirmed match is seen',
    )
    .argument('<name>', "the domain's name")
    .action(async (text: string) => {
      const domain = parseZoneName(text);
      if (domain === ROOT) throw new Failure('usage', 'the root has no parent zone that could delegate it');
      cli.exitCode = await checkName(domain, cli);
    });
}

async function checkName(domain: Name, cli: Cli): Promise<number> {
  const { observeFromHere } = await import('../terminal/observe-from-here.ts');
  const { evidenceJson, printEvidence } = await import('./print-evidence.ts');
  const settings = await cli.settings();
  const signal = cli.interruptible();
  const seen = await observeFromHere({ settings, signal }, async (resolver) => {
    const evidence = await resolver.observeDelegation(domain, { signal });
    // Only where the parent's servers also hold the domain it matters whether they are ours.
    const needsOurs = evidence.servers.some(({ showsCut }) => showsCut === true);
    const ourAddresses = needsOurs
      ? await findOurs(settings, (names) => resolver.findAllAddresses(names, { signal }))
      : undefined;
    return { evidence, ourAddresses };
  });
  if (seen === undefined) return INTERRUPTED;
  const { evidence, ourAddresses } = seen;
  const expected: Expected = {
    ...expectedBy(settings, evidence),
    ...(ourAddresses !== undefined && { ourAddresses }),
  };
  const observed = {
    evidence,
    judgement: judgeDelegation(evidence, expected),
    expected,
    setsAreExamples: settings.nameserverSetsAreDefault === true,
  };
  const { output } = cli;
  await output.print(
    output.json
      ? JSON.stringify(evidenceJson(observed))
      : printEvidence(observed, { colours: output.colours }),
  );
  const { verdict, confirmed, staleDs } = observed.judgement;
  return verdict === 'match' && confirmed && !staleDs ? 0 : 1;
}

/** With a pool any combination counts: without a database it cannot be known whose it is. */
function expectedBy(settings: CliSettings, { servers }: Evidence): Expected {
  const sets = setsOf(settings);
  const lists = expandPool(settings.answers.nameserverPool ?? [], [])?.lists ?? [];
  const shown = servers.flatMap(({ ns }) => combinationIn(lists, ns) ?? []);
  const own = shown.length === 0 ? [] : [[...new Set(shown)]];
  return { sets: [...own, ...sets], allSets: [...sets, lists.flat()] };
}

/** The addresses of the pool are known; those of sets are looked up. Undefined while one of them is not found. */
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
