// Leases for queries to one address, counted in Redis for all workers. Limits the queries in each second of Redis's
// clock.

import { Redis } from 'ioredis';

interface RedisLeases {
  lease(address: string, wanted: number): Promise<{ granted: number; retryAfterMs: number }>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 1000;

// KEYS[1] is the prefix, ARGV the maximum per second and the number wanted. Returns the number granted, and the
// milliseconds until the next second.
const LEASE = `
local now = redis.call('time')
local key = KEYS[1] .. now[1]
local granted = tonumber(redis.call('get', key) or '0')
local give = math.max(0, math.min(tonumber(ARGV[2]), tonumber(ARGV[1]) - granted))
if give > 0 then
  redis.call('incrby', key, give)
  redis.call('expire', key, 2)
end
return { give, 1000 - math.floor(tonumber(now[2]) / 1000) }`;

export function openRedisLeases(
  redisUrl: string,
  perSecond: number,
  onTrouble: (error: Error) => void = () => {},
): RedisLeases {
  const redis = new Redis(redisUrl, {
    // A late lease is useless, because its second is over.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: TIMEOUT_MS,
    connectTimeout: TIMEOUT_MS,
    keepAlive: 10_000,
    retryStrategy: (times) => Math.min(times * 100, TIMEOUT_MS),
  });
  redis.on('error', onTrouble);
  return {
    async lease(address, wanted) {
      const [granted, untilNextMs] = (await redis.eval(
        LEASE,
        1,
        `zonefleet:questions:${address}:`,
        perSecond,
        wanted,
      )) as [number, number];
      return { granted, retryAfterMs: granted > 0 ? 0 : untilNextMs };
    },
    async close() {
      redis.disconnect();
    },
  };
}
