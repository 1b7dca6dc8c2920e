// Zone templates: records in the order of a zone file, with placeholders for what the person enters.

import { endMail } from '../email/email-plan.ts';
import type { Difference } from '../records/diff.ts';
import { fieldsOf, fill, type RecipeField, type Values } from '../records/recipe.ts';
import { RecordPlan } from '../records/record-plan.ts';
import type { Row } from '../records/rows.ts';

const TEMPLATES = {
  website: ['@ A {address}', '@ AAAA {address6}', 'www CNAME @'],
  host: ['@ ANAME {host}', 'www CNAME {host}'],
  github: [
    ...[108, 109, 110, 111].map((octet) => `@ A 185.199.${octet}.153`),
    ...[8000, 8001, 8002, 8003].map((group) => `@ AAAA 2606:50c0:${group}::153`),
    'www CNAME {user}.github.io',
  ],
  netlify: ['@ ANAME apex-loadbalancer.netlify.com', 'www CNAME {site}.netlify.app'],
  vercel: ['@ A 76.76.21.21', 'www CNAME cname.vercel-dns.com'],
  shopify: ['@ A 23.227.38.65', 'www CNAME shops.myshopify.com'],
  parked: ['@ CAA 0 issue ";"'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type TemplateId = keyof typeof TEMPLATES;

export const TEMPLATE_IDS = Object.keys(TEMPLATES) as readonly TemplateId[];

const HOST_TYPES = ['A', 'AAAA', 'CNAME', 'ANAME'];
const OPTIONAL = ['address6'];

export interface TemplateField extends RecipeField {
  readonly value: string;
  readonly problem: 'needed' | 'wrong' | undefined;
}

export function templateFields(id: TemplateId, values: Values, domain: string): TemplateField[] {
  const { wrong } = fill(TEMPLATES[id], values, domain);
  return fieldsOf(TEMPLATES[id]).map((field) => {
    const value = values[field.key] ?? '';
    const isMissing = value.trim() === '' && !OPTIONAL.includes(field.key);
    const problem = isMissing ? 'needed' : wrong.includes(field.key) ? 'wrong' : undefined;
    return { ...field, value, problem };
  });
}

/** Replaces the addresses and aliases at the names of the template. Other records are kept. */
export function templateDifferences(
  rows: readonly Row[],
  id: TemplateId,
  values: Values,
  domain: string,
): readonly Difference[] {
  const plan = new RecordPlan(rows, domain);
  const { lines } = fill(TEMPLATES[id], values, domain);
  for (const name of new Set(lines.map((line) => line.name)))
    for (const types of [HOST_TYPES, ['CAA']]) {
      const wanted = lines.filter((line) => line.name === name && types.includes(line.type));
      if (wanted.length > 0) plan.replace(name, types, wanted);
    }
  if (id === 'parked') endMail(plan);
  return plan.differences();
}
