// Prints the responses of a name's nameservers and the changes that are needed, as text or as JSON.

import type { Severity } from '../../checks/child/child-codes.ts';
import { testOf } from '../../checks/child/child-codes.ts';
import type { ChildFinding } from '../../checks/child/child-findings.ts';
import type { AddressProbe, ChildEvidence, ProbeReply } from '../../checks/child/evidence.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { indentTable, joinBlocks } from '../terminal/blocks.ts';
import { painter } from '../terminal/paint.ts';
import { printTable } from '../terminal/print-table.ts';

interface Looked {
  readonly evidence: ChildEvidence;
  readonly findings: readonly ChildFinding[];
}

const HEADS = ['SERVER', 'ADDRESS', 'SOA', 'NS', 'TCP', 'EDNS'];
const COLOURS: Readonly<Record<Severity, 'red' | 'yellow' | 'green'>> = {
  error: 'red',
  warning: 'yellow',
  notice: 'green',
};

export function printChild(
  { evidence, findings }: Looked,
  { colours }: { readonly colours: boolean },
): string {
  const paint = painter(colours);
  const { domain, addresses, failure, queries, hasIpv6, startedAt, finishedAt } = evidence;
  const seconds = ((finishedAt - startedAt) / 1000).toFixed(1);
  const count = `${addresses.length} ${addresses.length === 1 ? 'address' : 'addresses'}`;
  const head = `Nameservers of ${printWithoutDot(domain)} (${count}, ${queries} packets, ${seconds} s)`;
  const told = findings.map(
    ({ code, severity, message }) => `  ${paint(COLOURS[severity], severity)} ${code}: ${message}`,
  );
  return joinBlocks([
    [
      paint('bold', head),
      ...(failure === undefined ? [] : [`  the delegation was not found: ${failure}`]),
      ...(hasIpv6 ? [] : ['  this machine has no IPv6, so IPv6 addresses are not queried']),
      ...(addresses.length === 0 ? [] : indentTable(printTable(HEADS, addresses.map(rowOf)))),
    ],
    [paint('bold', 'Advice'), ...(told.length > 0 ? told : ['  nothing to change'])],
  ]);
}

function rowOf({ address, servers, isPrivate, soa, ns, tcp, edns }: AddressProbe): string[] {
  const names = servers.map(printWithoutDot).join(' ');
  if (isPrivate) return [names, address, 'not public', '-', '-', '-'];
  const serial = soa.soa === undefined ? wordOf(soa) : String(soa.soa.serial);
  const set = ns.ns === undefined ? wordOf(ns) : `${ns.ns.length} names`;
  return [names, address, serial, set, wordOf(tcp), edns === 'unknown' ? '-' : edns];
}

function wordOf({ outcome }: ProbeReply): string {
  return outcome === 'unasked' ? '-' : outcome;
}

export function childJson({ evidence, findings }: Looked): object {
  const { domain, parent, servers, addresses, failure, isComplete, hasIpv6, queries } = evidence;
  return {
    domain: printWithoutDot(domain),
    parent: parent === undefined ? null : printWithoutDot(parent),
    failure: failure ?? null,
    complete: isComplete,
    ipv6: hasIpv6,
    queries,
    servers: servers.map(({ name, isAtParent, isInZone, glue, found }) => ({
      name: printWithoutDot(name),
      at_parent: isAtParent,
      in_zone: isInZone,
      glue,
      found: found.kind,
      addresses: 'addresses' in found ? found.addresses : [],
    })),
    addresses: addresses.map(probeJson),
    findings: findings.map(({ code, severity, place, message, names = [] }) => ({
      code,
      severity,
      place,
      test: testOf(code) ?? null,
      message,
      names: names.map(printWithoutDot),
    })),
  };
}

function probeJson({ address, servers, isPrivate, soa, ns, tcp, edns }: AddressProbe): object {
  return {
    address,
    servers: servers.map(printWithoutDot),
    public: !isPrivate,
    soa: { outcome: soa.outcome, serial: soa.soa?.serial ?? null, error: soa.error ?? null },
    ns: { outcome: ns.outcome, names: ns.ns?.map(printWithoutDot) ?? null, error: ns.error ?? null },
    tcp: { outcome: tcp.outcome, serial: tcp.soa?.serial ?? null, error: tcp.error ?? null },
    edns,
  };
}
