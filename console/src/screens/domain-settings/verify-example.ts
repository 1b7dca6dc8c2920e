// Code that verifies a message of a webhook in Node.js, as in docs/api.md. It is shown to owners. `request` is the HTTP request,
// `body` its body as text, and `secret` the secret of the webhook.

export const VERIFY_EXAMPLE = `// createHmac and timingSafeEqual are from node:crypto
const header = request.headers['zonefleet-signature'];
const [, t, mac] = /^t=(\\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
const own = createHmac('sha256', secret).update(\`\${t}.\${body}\`).digest();
const isValid =
  mac !== undefined &&
  timingSafeEqual(own, Buffer.from(mac, 'hex')) &&
  Math.abs(Date.now() / 1000 - t) < 300;
`;
