// `check`: observes the delegation of a name from here, now, and judges it by the sets of the settings. The same observation
// and judgement as a worker's, without what follows.

import type { Expected } from '../checks/check-state.ts';
import { judgeDelegation } from '../checks/judge-delegation.ts';
import type { Name } from '../dns/name.ts';
import type { CliSettings } from './cli.ts';
import { openResolver } from './open-resolver.ts';
import { INTERRUPTED, type Output } from './output.ts';
import { parseZoneName } from './parse-zone-name.ts';
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
