// What Postgres would say of a domain, for a zone of a small internet that this fleet holds: the topmost cut on the way down
// to the domain, else whether the name is there or an alias.

import type { HeldZone } from '../../../src/checks/delegation/held-zone.ts';
import {
  isWithin,
  labelCount,
  labelsOf,
  type Name,
  nameInRdata,
  prependLabel,
} from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { findAnswer } from '../../../src/zone/find-answer.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { printAddress } from '../world/read-world.ts';

export function heldZoneFor(domain: Name, zones: readonly Zone[]): HeldZone | undefined {
  const [zone] = zones
    .filter(({ apex }) => apex !== domain && isWithin(domain, apex))
    .sort((a, b) => labelCount(b.apex) - labelCount(a.apex));
  return zone === undefined ? undefined : heldIn(zone, domain);
}

function heldIn(zone: Zone, domain: Name): HeldZone {
  const cut = topmostCut(zone, domain);
  const sets = cut === undefined ? undefined : zone.nodes.get(cut)?.sets;
  const ns = sets?.get(TYPE.NS);
  const names = ns?.rdata.map((rdata) => nameInRdata(rdata)) ?? [];
  const answer = findAnswer(new Map([[zone.apex, zone]]), domain, TYPE.NS);
  const glue = names.flatMap((name) =>
    [TYPE.A, TYPE.AAAA].flatMap((type) =>
      (zone.nodes.get(name)?.sets.get(type)?.rdata ?? []).map((rdata) => ({
        name,
        address: printAddress(rdata),
      })),
    ),
  );
  return {
    zone: zone.apex,
    cut,
    ns: names,
    ds: sets?.get(TYPE.DS)?.rdata ?? [],
    glue,
    ttl: ns?.ttl ?? zone.negativeTtl,
    exists: answer.kind !== 'nxdomain',
    alias: cut === undefined && answer.answer.some(({ type }) => type === TYPE.CNAME || type === TYPE.DNAME),
  };
}

function topmostCut(zone: Zone, domain: Name): Name | undefined {
  let name = zone.apex;
  const below = labelsOf(domain).slice(0, labelCount(domain) - labelCount(zone.apex));
  for (const label of below.reverse()) {
    name = prependLabel(label, name) as Name;
    if (zone.nodes.get(name)?.sets.has(TYPE.NS)) return name;
  }
  return undefined;
}
