// A location on Earth (RFC 1876). The fields have another order in text than on the wire, and some are optional.

import { upperCaseAscii } from '../../ascii.ts';
import { TYPE } from '../../type-codes.ts';
import { encodeNumber } from '../fields.ts';
import type { RecordType } from '../record-type.ts';
import type { TokenReader } from '../token-reader.ts';
import type { WireReader } from '../wire-reader.ts';

/** Angles in thousandths of an arc second, north and east positive; altitude in cm above the WGS 84 spheroid. */
interface Location {
  readonly latitude: number;
  readonly longitude: number;
  readonly altitudeCm: number;
  /** Size and precisions as on the wire: mantissa and power of ten in centimetres, four bits each (RFC 1876 §2). */
  readonly size: number;
  readonly horizontalPrecision: number;
  readonly verticalPrecision: number;
}

const EQUATOR = 2 ** 31;
const DEGREE = 3_600_000;
const SPHEROID_CM = 10_000_000;
const MAX_EXTENT_CM = 9_000_000_000;

export const LOC: RecordType<Location> = {
  code: TYPE.LOC,
  compression: 'never',
  nameFields: [],
  names: () => [],
  parse(tokens) {
    const latitude = parseAngle(tokens, 'latitude', 90, 'N', 'S');
    const longitude = parseAngle(tokens, 'longitude', 180, 'E', 'W');
    tokens.field = 'altitude';
    const altitudeCm = parseMetres(tokens, -SPHEROID_CM, 0xffffffff - SPHEROID_CM);
    // defaults of 1 m, 10 km and 10 m (RFC 1876 §3)
    const size = parseExtent(tokens, 'size', 0x12);
    const horizontalPrecision = parseExtent(tokens, 'horizontalPrecision', 0x16);
    const verticalPrecision = parseExtent(tokens, 'verticalPrecision', 0x13);
    tokens.finish();
    return { latitude, longitude, altitudeCm, size, horizontalPrecision, verticalPrecision };
  },
  print(value) {
    const extents = [value.size, value.horizontalPrecision, value.verticalPrecision];
    const latitude = printAngle(value.latitude, 'N', 'S');
    const longitude = printAngle(value.longitude, 'E', 'W');
    return [latitude, longitude, `${printFixed(value.altitudeCm, 100)}m`, ...extents.map(printExtent)].join(
      ' ',
    );
  },
  decode(wire) {
    wire.field = 'version';
    if (wire.u8() !== 0) wire.fail('the version is not 0'); // RFC 1876 §2: the layout of other versions is unknown
    const size = decodeExtent(wire, 'size');
    const horizontalPrecision = decodeExtent(wire, 'horizontalPrecision');
    const verticalPrecision = decodeExtent(wire, 'verticalPrecision');
    const latitude = decodeAngle(wire, 'latitude', 90);
    const longitude = decodeAngle(wire, 'longitude', 180);
    wire.field = 'altitude';
    const altitudeCm = wire.u32() - SPHEROID_CM;
    wire.finish();
    return { latitude, longitude, altitudeCm, size, horizontalPrecision, verticalPrecision };
  },
  encode: (value) =>
    Buffer.concat([
      Uint8Array.of(0, value.size, value.horizontalPrecision, value.verticalPrecision),
      encodeNumber(value.latitude + EQUATOR, 4),
      encodeNumber(value.longitude + EQUATOR, 4),
      encodeNumber(value.altitudeCm + SPHEROID_CM, 4),
    ]),
};

/**
 * Parses degrees, minutes and seconds with up to three decimals, of which the last two are optional, and the
 * hemisphere.
 */
function parseAngle(
  tokens: TokenReader,
  field: string,
  maxDegrees: number,
  plus: string,
  minus: string,
): number {
  tokens.field = field;
  const first = tokens.peek();
  let angle = 0;
  for (const unit of [DEGREE, 60_000, 1000, 0]) {
    const token = tokens.word();
    const hemisphere = upperCaseAscii(token.text);
    if (unit !== DEGREE && (hemisphere === plus || hemisphere === minus)) {
      if (angle > maxDegrees * DEGREE) tokens.fail(`it is beyond ${maxDegrees} degrees`, first);
      return hemisphere === plus ? angle : -angle + 0;
    }
    const pattern = unit === 1000 ? /^[0-9]{1,2}(?:\.[0-9]{1,3})?$/ : /^[0-9]{1,3}$/;
    const inRange = Number(token.text) < (unit === DEGREE ? maxDegrees + 1 : 60);
    if (unit === 0) tokens.fail(`"${token.text}" is not ${plus} or ${minus}`, token);
    if (!pattern.test(token.text) || !inRange) {
      tokens.fail(`"${token.text}" is not ${wordFor(unit)}, nor ${plus} or ${minus}`, token);
    }
    angle += Math.round(Number(token.text) * unit);
  }
  return tokens.fail(`${plus} or ${minus} is missing`);
}

function decodeAngle(wire: WireReader, field: string, maxDegrees: number): number {
  wire.field = field;
  const angle = wire.u32() - EQUATOR;
  return Math.abs(angle) > maxDegrees * DEGREE ? wire.fail(`it is beyond ${maxDegrees} degrees`) : angle;
}

function wordFor(unit: number): string {
  if (unit === DEGREE) return 'a number of degrees';
  return unit === 1000
    ? 'a number of seconds below 60 with at most three decimals'
    : 'a number of minutes below 60';
}

function printAngle(angle: number, plus: string, minus: string): string {
  const size = Math.abs(angle);
  const minutes = Math.floor(size / 60_000) % 60;
  return `${Math.floor(size / DEGREE)} ${minutes} ${printFixed(size % 60_000, 1000)} ${angle < 0 ? minus : plus}`;
}

/** Parses metres with at most two decimals and an optional "m" into centimetres. */
function parseMetres(tokens: TokenReader, minCm: number, maxCm: number): number {
  const token = tokens.word();
  const match = /^([-+]?)([0-9]{1,8})(?:\.([0-9]{1,2}))?m?$/i.exec(token.text);
  if (match === null)
    return tokens.fail(`"${token.text}" is not a number of metres with at most two decimals`, token);
  const [, sign, whole, decimals = ''] = match;
  const size = Number(whole) * 100 + Number(decimals.padEnd(2, '0'));
  const cm = sign === '-' ? 0 - size : size;
  if (cm >= minCm && cm <= maxCm) return cm;
  return tokens.fail(`"${token.text}" is not from ${minCm / 100} to ${maxCm / 100} metres`, token);
}

/** Only the first digit of the centimetres fits. The rest is truncated, as in the program of RFC 1876, appendix A. */
function parseExtent(tokens: TokenReader, field: string, byDefault: number): number {
  if (tokens.peek() === undefined) return byDefault;
  tokens.field = field;
  const digits = String(parseMetres(tokens, 0, MAX_EXTENT_CM));
  return Number(digits[0]) * 16 + (digits === '0' ? 0 : digits.length - 1);
}

function decodeExtent(wire: WireReader, field: string): number {
  wire.field = field;
  const extent = wire.u8();
  if (extent >> 4 > 9 || (extent & 15) > 9) wire.fail('a digit is greater than 9');
  // 0 × 10^n is a second form of 0 that text cannot express; BIND rejects it too
  return extent > 0 && extent < 0x10 ? wire.fail('the digit is 0, but its power of ten is not') : extent;
}

function printExtent(extent: number): string {
  const cm = (extent >> 4) * 10 ** (extent & 15);
  return cm % 100 === 0 ? `${cm / 100}m` : `${printFixed(cm, 100)}m`;
}

function printFixed(value: number, scale: 100 | 1000): string {
  const size = Math.abs(value);
  const decimals = String(size % scale).padStart(scale === 100 ? 2 : 3, '0');
  return `${value < 0 ? '-' : ''}${Math.floor(size / scale)}.${decimals}`;
}
