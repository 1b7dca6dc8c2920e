import { describe, expect, it } from 'vitest';
import { networksOf } from '../../../src/dns/record/network.ts';
import { judgeAddress, readWebhookUrl } from '../../../src/edge/webhooks/webhook-url.ts';

describe('the URL of a webhook', () => {
  it('is https, on 443 or above 1023, in the form in which it is called', () => {
    expect(readWebhookUrl('https://Hooks.Shop.Test./a b?x=1', [])).toEqual({
      href: 'https://hooks.shop.test./a%20b?x=1',
      host: 'hooks.shop.test',
      port: 443,
      path: '/a%20b?x=1',
    });
    expect(readWebhookUrl('https://hooks.test:8443', [])).toMatchObject({ port: 8443, path: '/' });
    expect(readWebhookUrl('https://[2606:4700::1]:1024/', [])).toMatchObject({ host: '2606:4700::1' });
    expect(readWebhookUrl('https://bücher.test/', [])).toMatchObject({ host: 'xn--bcher-kva.test' });
  });

  it.each([
    ['hooks.test', /no URL/],
    ['http://hooks.test/', /https/],
    ['ftp://hooks.test/', /https/],
    ['https://hooks.test:25/', /443 or above 1023/],
    ['https://hooks.test:1023/', /443 or above 1023/],
    ['https://hooks.test:0/', /443 or above 1023/],
    ['https://user@hooks.test/', /user name/],
    ['https://:secret@hooks.test/', /user name/],
    ['https://hooks.test/#there', /fragment/],
    [`https://hooks.test/${'x'.repeat(2000)}`, /2000/],
    [`https://${'a.'.repeat(130)}test/`, /host/],
    ['https://localhost/', /not public/],
    ['https://api.localhost./', /not public/],
    ['https://127.0.0.1/', /not public/],
    ['https://127.1/', /not public/],
    ['https://2130706433/', /not public/],
    ['https://0x7f.0.0.1/', /not public/],
    ['https://0/', /not public/],
    ['https://10.0.0.1/', /not public/],
    ['https://169.254.169.254/latest/meta-data/', /not public/],
    ['https://192.168.1.1/', /not public/],
    ['https://100.64.0.1/', /not public/],
    ['https://[::1]/', /not public/],
    ['https://[::]/', /not public/],
    ['https://[::ffff:10.0.0.1]/', /not public/],
    ['https://[::ffff:a9fe:a9fe]/', /not public/],
    ['https://[64:ff9b::10.0.0.1]/', /not public/],
    ['https://[2002:7f00:1::]/', /not public/],
    ['https://[fd00::1]/', /not public/],
    ['https://[fe80::1]/', /not public/],
  ])('is not %s', (url, problem) => {
    expect(readWebhookUrl(url, [])).toEqual({ problem: expect.stringMatching(problem) });
  });

  it('may lead to networks that are allowed', () => {
    const allowed = networksOf('127.0.0.0/8');
    expect(readWebhookUrl('https://127.0.0.1:9000/', allowed)).toMatchObject({ host: '127.0.0.1' });
    expect(judgeAddress('10.0.0.1', allowed)).toBe('this address is not public');
  });
});
