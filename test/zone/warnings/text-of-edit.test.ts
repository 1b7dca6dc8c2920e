import { describe, expect, it } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { type EditText, parseEdit } from '../../../src/zone/edit/parse-edit.ts';
import type { ApiType } from '../../../src/zone/records/customer-types.ts';
import { warnOfEditText } from '../../../src/zone/warnings/text-of-edit.ts';
import { APEX, editState } from '../../support/zone/customer-records.ts';
import { planEdit } from '../../support/zone/plan-edit.ts';

describe('the text of an edit', () => {
  /** Returns the warnings of an edit of a domain that has the record `www` with the id 1. */
  function warningsOf(text: EditText): string[] {
    const parsed = parseEdit(text, APEX);
    if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
    const planned = planEdit(editState(['www CNAME host.example.net']), parsed.edit);
    if (planned.kind === 'problems') throw new Error(JSON.stringify(planned.problems));
    return [...warnOfEditText(text, planned.ops)].map(
      ({ code, owner, type, message }) => `${code} ${printName(owner)} ${type} ${message.split(' ')[0]}`,
    );
  }

  const create = (name: string, type: ApiType, destination: string, more = {}): EditText => {
    return { create: [{ name, type, destination, ...more }] };
  };
  const replaced = { name: 'b', type: 'ANAME' as const, records: [{ destination: '\\052.shop.example' }] };

  it.each<[EditText, string]>([
    [create('\\052', 'A', '192.0.2.1'), '4.example.com. A "\\052"'],
    [create('a', 'MX', '\\100.shop.example', { mx_priority: 1 }), 'a.example.com. MX "\\100.shop.example"'],
    [create('a', 'SRV', '1 2 3 \\052.shop.example.'), 'a.example.com. SRV "\\052.shop.example."'],
    [{ update: [{ id: 1, destination: '\\100.a.net' }] }, 'www.example.com. CNAME "\\100.a.net"'],
    [{ replace: [replaced] }, 'b.example.com. ANAME "\\052.shop.example"'],
  ])('%j causes a warning about an octal escape', (text, expected) => {
    expect(warningsOf(text)).toEqual([`OCTAL_ESCAPE ${expected}`]);
  });

  it.each<EditText>([
    create('*', 'TXT', '\\100.shop.example'),
    create('a\\052b', 'A', '192.0.2.1'),
    { update: [{ id: 1, destination: 'host.example.net' }] },
    { delete: [1] },
  ])('%j causes none', (text) => {
    expect(warningsOf(text)).toEqual([]);
  });
});
