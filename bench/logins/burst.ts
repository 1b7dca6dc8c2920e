// A process that signs in a thousand times concurrently at the given URL, and prints the number of responses by status.

const [url = '', logins = ''] = process.argv.slice(2);

async function login(i: number): Promise<number> {
  const response = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.0.${i >> 8}.${i & 255}` },
    body: JSON.stringify({ email: `person${i % 10}@logins.test`, password: `not the password ${i}` }),
  });
  await response.arrayBuffer();
  return response.status;
}

const startedMs = performance.now();
const statuses: Record<number, number> = {};
for (const status of await Promise.all(Array.from({ length: Number(logins) }, (_, i) => login(i))))
  statuses[status] = (statuses[status] ?? 0) + 1;
process.stdout.write(JSON.stringify({ statuses, seconds: (performance.now() - startedMs) / 1000 }));
