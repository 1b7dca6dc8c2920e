// `zonefleet edge region`: sets the region for visitors from a country.

import { listCountries, removeCountries, setCountries } from '../../store/edges/edge-regions.ts';
import { listEdges } from '../../store/edges/edges.ts';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { printTable } from '../terminal/print-table.ts';
import { readCountries, readRegion } from './read-edge-words.ts';

export async function assignCountries(cli: Cli, words: readonly string[]): Promise<void> {
  if (words.length < 2) throw new Failure('usage', 'expected countries, followed by their region');
  const countries = readCountries(words.slice(0, -1));
  const region = readRegion(words.at(-1) as string);
  const { output } = cli;
  await cli.withStore(async (db) => {
    const changed = await cli.audited(db, 'edge.region', async (trx, tell) => {
      const done = await setCountries(trx, countries, region);
      if (done.length > 0) tell({ target: { name: region }, after: { region, countries: done } });
      return done;
    });
    if (output.json) await output.print(JSON.stringify({ region, changed }));
    else await output.print(`${region}: ${changed.length === 0 ? 'unchanged' : changed.join(' ')}`);
    const hasEdge = (await listEdges(db)).some((edge) => edge.region === region && edge.revokedAt === null);
    if (!hasEdge && !output.json) await output.complain(`${region}: no edge is in this region`);
    return 0;
  });
}

export async function showCountries(cli: Cli): Promise<void> {
  const { output } = cli;
  await cli.withStore(async (db) => {
    const countries = await listCountries(db);
    if (output.json) await output.print(JSON.stringify({ countries }));
    else {
      const rows = countries.map(({ country, region }) => [country, region]);
      await output.print(printTable(['COUNTRY', 'REGION'], rows));
    }
    return 0;
  });
}

export async function removeSome(cli: Cli, words: readonly string[]): Promise<void> {
  const countries = readCountries(words);
  const { output } = cli;
  await cli.withStore(async (db) => {
    const removed = await cli.audited(db, 'edge.region', async (trx, tell) => {
      const done = await removeCountries(trx, countries);
      if (done.length > 0) tell({ before: { countries: done } });
      return done;
    });
    if (output.json) await output.print(JSON.stringify({ removed }));
    else if (removed.length > 0) await output.print(`removed ${removed.join(' ')}`);
    const missing = countries.filter((country) => !removed.includes(country));
    for (const country of output.json ? [] : missing) await output.complain(`${country}: has no region`);
    return missing.length === 0 ? 0 : 1;
  });
}
