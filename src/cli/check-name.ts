// `check`: observes the delegation of a name from here, now, and judges it by the sets of the settings. The same observation
// and judgement as a worker's, without what follows.

import type { Expected } from '../checks/check-state.ts';
import { judgeDelegation } from '../checks/judge-delegation.ts';
import type { Name } from '../dns/name.ts';
import { type Network, parseNetwork } from '../resolver/address-rules.ts';
import { createExchange } from '../resolver/exchange.ts';
import { watchIpv6 } from '../resolver/has-ipv6.ts';
import { AddressRates, QUESTIONS_PER_SECOND } from '../resolver/rate-leases.ts';
import { createResolver, type Resolver } from '../resolver/resolver.ts';
import { loadRootHints, type RootServer } from '../resolver/root-hints.ts';
import type { CliSettings } from './cli.ts';
import { Failure } from './failure.ts';
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

async function openResolver({ rootHints, dnsPortOut, resolverAllow }: CliSettings): Promise<Resolver> {
  const allowed = resolverAllow.map((text) => parseNetwork(text) as Network); // the settings have judged them
  return createResolver({
    exchange: createExchange({ port: dnsPortOut }),
    rootServers: await readRootHints(rootHints),
    allowed,
    rates: new AddressRates(QUESTIONS_PER_SECOND, undefined, Date.now),
    hasIpv6: watchIpv6(resolverAllow.some((network) => network.includes(':'))),
  });
}

async function readRootHints(path: string | undefined): Promise<readonly RootServer[]> {
  try {
    return await loadRootHints(path);
  } catch (error) {
    throw new Failure('file', `ROOT_HINTS: ${(error as Error).message}`, { cause: error });
  }
}

function expectedBy({ answers }: CliSettings): Expected {
  const sets = answers.nameserverSets.map((set) => set.map(parseZoneName));
  return { sets, allSets: sets };
}
