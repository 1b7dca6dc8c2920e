// The newest check of a domain's own zone as the API shows it. What is wrong with our own nameservers only admins see.

import type { z } from 'zod';
import type { SavedChildCheck } from '../../store/child/load-child-check.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Check } from '../schemas/checks/check.ts';

type Printed = NonNullable<z.input<typeof Check>['child']>;

export function printChildCheck(check: SavedChildCheck, isAdmin: boolean): Printed {
  const { checkedAt, findings, evidence, queries } = check;
  const told = findings.filter(({ place }) => isAdmin || place !== 'operator');
  return {
    checked_at: checkedAt.toISOString(),
    findings: told.map(({ names, ...finding }) => ({
      ...finding,
      ...(names.length > 0 && { names: names.map(printWithoutDot) }),
    })),
    servers: evidence.servers.map(({ name, glue, addresses, ...server }) => ({
      ...server,
      name: printColumn(name),
      glue: [...glue],
      addresses: [...addresses],
    })),
    addresses: evidence.addresses.map(({ servers, edns, ...probe }) => ({
      ...probe,
      edns: edns as Printed['addresses'][number]['edns'], // written by the same fleet
      servers: servers.map(printColumn),
    })),
    complete: evidence.complete,
    queries,
  };
}

function printColumn(name: string): string {
  return printWithoutDot(decodeNameColumn(name));
}
