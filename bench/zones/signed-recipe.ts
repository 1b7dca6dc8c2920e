// Many small zones of the recipe, each with the signatures of the first. They are invalid for the other zones, but servers
// do not check: signatures of the right length use the same memory, and a million zones are signed in a moment.

import { createHash } from 'node:crypto';
import { parseName, printName } from '../../src/dns/name.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts';
import { signWith } from '../../test/support/dnssec/signing-programs.ts';
import { makeRecipeZones, RECIPE } from './recipe-zones.ts';
import type { ZoneSet } from './zone-set.ts';

export interface SignedRecipe {
  readonly set: ZoneSet;
  /** Of one zone. */
  readonly signatures: number;
  readonly records: number;
}

export async function makeSignedRecipe(count: number): Promise<SignedRecipe> {
  const plain = makeRecipeZones(count);
  const { apexOf } = plain.recipe as NonNullable<ZoneSet['recipe']>;
  const apex = apexOf(0);
  const style = { name: 'bench', program: 'dnssec-signzone', algorithm: 13 } as const;
  const { text } = await signWith(style, { apex, text: RECIPE });
  const { records } = parseZoneFile(text, { origin: parseName(apex) });
  const lines = records.map(({ owner, type, ttl, rdata }) =>
    relative(`${printName(owner)} ${ttl} ${typeMnemonic(type)} ${printRdata(type, rdata)}`, apex),
  );
  const relativeText = `${lines.join('\n')}\n`;
  const digest = createHash('sha256').update(relativeText).digest('hex');
  return {
    set: {
      ...plain,
      name: `signed_recipe_${count}_${digest.slice(0, 8)}`,
      recipe: { count, text: relativeText, apexOf },
      records: count * records.length,
    },
    signatures: records.filter(({ type }) => type === TYPE.RRSIG).length,
    records: records.length,
  };
}

/** Each name that ends in the apex is relative, as in a zone file. */
function relative(line: string, apex: string): string {
  return line
    .split(' ')
    .map((word) => (word === apex ? '@' : word.endsWith(`.${apex}`) ? word.slice(0, -apex.length - 1) : word))
    .join(' ');
}
