import { describe, expect, it } from 'vitest';
import type { ProcessName } from '../../src/process/settings/setting.ts';
import { environmentOf } from '../../src/start/process-environment.ts';

const SECRETS = {
  DATABASE_URL: 'postgresql://owner:secret@db/zonefleet',
  REDIS_URL: 'redis://:secret@queue/0',
  COOKIE_SECRETS: '0123456789abcdef0123456789abcdef',
  BOOTSTRAP_API_KEY: `svc_${'0'.repeat(40)}`,
  KEY_SECRETS: 'sealing:secret',
  AWS_SECRET_ACCESS_KEY: 'not ours',
  npm_config_token: 'not ours',
};
const secretsOf = (name: ProcessName) =>
  Object.keys(environmentOf(name, SECRETS, { DATABASE_URL: 'its own' })).sort();

describe('the environment of a process', () => {
  it('has its own secrets and nobody else’s', () => {
    expect(secretsOf('nameserver')).toEqual(['COOKIE_SECRETS', 'DATABASE_URL']);
    expect(secretsOf('API')).toEqual(['BOOTSTRAP_API_KEY', 'DATABASE_URL', 'KEY_SECRETS', 'REDIS_URL']);
    expect(secretsOf('workers')).toEqual(['DATABASE_URL', 'KEY_SECRETS', 'REDIS_URL']);
  });

  it('has what npm start decides, instead of what it was given', () => {
    expect(environmentOf('API', SECRETS, { DATABASE_URL: 'its own' }).DATABASE_URL).toBe('its own');
  });

  it('has what every program needs, but no ring that would keep the rights of root', () => {
    const env = {
      PATH: '/bin',
      HOME: '/',
      TZ: 'UTC',
      LC_ALL: 'C',
      NODE_ENV: 'production',
      PGSSLMODE: 'require',
    };
    expect(environmentOf('workers', { ...env, UV_USE_IO_URING: '1', LD_PRELOAD: '/x' }, {})).toEqual(env);
  });

  it('takes NODE_NAME for the setting that it is', () => {
    expect(environmentOf('API', { NODE_NAME: 'one' }, {})).toEqual({});
    expect(environmentOf('nameserver', { NODE_NAME: 'one' }, {})).toEqual({ NODE_NAME: 'one' });
  });
});
