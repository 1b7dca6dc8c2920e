import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSettingsComment, printSettingsComment } from '../../../src/zone/import/settings-comment.ts';
import {
  DEFAULT_SETTINGS,
  ORIGIN_SCHEMES,
  type RecordSettings,
} from '../../../src/zone/records/customer-record.ts';
import { scale } from '../../support/tests/scale.ts';

function print(settings: Partial<RecordSettings>): string {
  return printSettingsComment({ ...DEFAULT_SETTINGS, ...settings });
}

function parse(comment: string): unknown {
  const parsed = parseSettingsComment(comment);
  return parsed.kind === 'settings' ? parsed.settings : parsed.message;
}

describe('the settings of a record', () => {
  it.each<[Partial<RecordSettings>, string]>([
    [{}, ''],
    [{ proxied: true }, '; zonefleet proxied=true'],
    [{ port: 80, scheme: 'Http', timeout: 1 }, '; zonefleet scheme="Http" port=80 timeout=1'],
    [{ comment: 'a "b"; c\nd\\' }, '; zonefleet comment="a \\"b\\"; c\\nd\\\\"'],
    [
      { hostHeader: 'x.example', monitor: true, captcha: true, destCountry: 'DE' },
      '; zonefleet captcha=true host_header="x.example" monitor=true dest_country="DE"',
    ],
  ])('%j are %s', (settings, comment) => {
    expect(print(settings)).toBe(comment);
  });

  it('are read back from their comment, whatever they are', () => {
    const text = fc.option(fc.string({ unit: 'binary' }));
    const [boolean, port, timeout] = [
      fc.boolean(),
      fc.integer({ min: 1, max: 65_535 }),
      fc.integer({ min: 1, max: 3600 }),
    ];
    const settings = fc.record({
      ...{ proxied: boolean, captcha: boolean, monitor: boolean, port, timeout },
      ...{ hostHeader: text, destCountry: text, comment: text },
      scheme: fc.constantFrom(...ORIGIN_SCHEMES),
    });
    fc.assert(
      fc.property(settings, (wanted) => {
        const comment = printSettingsComment(wanted);
        expect(comment).not.toMatch(/\n|\r(?=\n)/);
        const { host_header, dest_country, ...rest } = parse(comment.slice(1)) as Record<string, never>;
        const read = {
          ...rest,
          ...(host_header !== undefined && { hostHeader: host_header }),
          ...(dest_country !== undefined && { destCountry: dest_country }),
        };
        expect({ ...DEFAULT_SETTINGS, ...read }).toEqual(wanted);
      }),
      { numRuns: scale(100, 25) },
    );
  });
});

describe('a comment', () => {
  it.each([
    ' web server',
    '',
    ' proxied=true',
    ' zonefleets proxied=true',
    ' the zonefleet proxied=true',
  ])('of another program has no settings: %j', (comment) => {
    expect(parse(comment)).toEqual({});
  });

  it.each([
    ' zonefleet proxied',
    ' zonefleet proxied=yes',
    ' zonefleet proxied=1',
    ' zonefleet proxy=true',
    ' zonefleet proxied=true proxied=false',
    ' zonefleet port="80"',
    ' zonefleet port=80.5',
    ' zonefleet scheme="Gopher"',
    ' zonefleet comment="open',
    ' zonefleet comment="a"b',
    ' zonefleet comment=null',
  ])('of ours has to be right: %s', (comment) => {
    expect(parse(comment)).toMatch(/^the comment "; zonefleet" has no place for /);
  });

  it.each([
    [' cf_tags=cf-proxied:true', { proxied: true }],
    [' shop cf_tags=cf-flatten-cname,cf-proxied:true', { proxied: true }],
    [' cf_tags=cf-proxied:false', {}],
  ])('of Cloudflare is known: %s', (comment, settings) => {
    expect(parse(comment)).toEqual(settings);
  });

  it('is read in linear time, however long it is', () => {
    expect(parse(` ${'cf_tags='.repeat(50_000)}`)).toEqual({});
    expect(parse(` ${'cf_tags= '.repeat(50_000)}`)).toEqual({});
  });
});
