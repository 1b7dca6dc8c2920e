// Fields of rules that specify origins.

import { z } from 'zod';
import { TextError } from '../../dns/errors.ts';
import { parseIpv4, parseIpv6 } from '../../dns/record/ip-address.ts';
import { line } from './text-fields.ts';

export const HOST_OR_ADDRESS =
  'expected a host name (lower case, A-labels) or an IP address, without scheme and port';

const HOST = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)+$/;

/** Some parsers read a name that ends in a number as an IPv4 address (WHATWG URL, "ends in a number"). */
export function isHostOrAddress(text: string): boolean {
  if (isAddress(text)) return true;
  return HOST.test(text) && !/\.(?:[0-9]+|0x[0-9a-f]*)$/.test(text);
}

function isAddress(text: string): boolean {
  try {
    if (text.includes(':')) parseIpv6(text);
    else parseIpv4(text);
    return true;
  } catch (error) {
    if (error instanceof TextError) return false;
    throw error;
  }
}

export const originHost = line(255, 1).refine(isHostOrAddress, HOST_OR_ADDRESS);
export const originPort = z.int().min(1).max(65_535).default(443);
export const hostHeader = line(255)
  .refine(
    (text) => /^(?:[A-Za-z0-9._-]+(?::[0-9]{1,5})?)?$/.test(text),
    'expected a host name with an optional port',
  )
  .default('')
  .describe('Host and SNI towards the origin. Empty: the host of the request.');
