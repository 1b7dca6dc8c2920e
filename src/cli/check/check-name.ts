// `check`: observes the delegation of a name from this machine, now, and judges it by the sets in the settings.
// Observation and judgement are those of a worker, but nothing is changed by them.

import type { Expected } from '../../checks/delegation/check-state.ts';
import { judgeDelegation } from '../../checks/delegation/judge-delegation.ts';
import type { Name } from '../../dns/name.ts';
import type { CliSettings } from '../terminal/cli.ts';
import { openResolver } from '../terminal/open-resolver.ts';
import { INTERRUPTED, type Output } from '../terminal/output.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';
import { evidenceJson, printEvidence } from './print-evidence.ts';

export async function checkName(
  domain: Name,
  settings: CliSettings,
  signal: AbortSignal,
  output: Output,
): Promise<number> {
  const resolver = await openResolver(settings);
  try {
    const evidence = await resolver.observeDelegation(domain, { signal });
    const expected = expectedBy(settings);
    const observed = { evidence, judgement: judgeDelegation(evidence, expected), expected };
    await output.print(
      output.json
        ? JSON.stringify(evidenceJson(observed))
        : printEvidence(observed, { colours: output.colours }),
    );
    const { verdict, staleDs } = observed.judgement;
    return verdict === 'match' && !staleDs ? 0 : 1;
  } catch (error) {
    if (signal.aborted) return INTERRUPTED;
    throw error;
  } finally {
    await resolver.close();
  }
}

function expectedBy({ answers }: CliSettings): Expected {
  const sets = answers.nameserverSets.map((set) => set.map(parseZoneName));
  return { sets, allSets: sets };
}
