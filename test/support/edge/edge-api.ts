import { type HttpListeners, listenHttp } from '../../../src/api/http/listen.ts';
import { createEdge } from '../../../src/store/edges/edges.ts';
import { startTestApi, type TestApi, type TestApiOptions } from '../api/api.ts';
import { ConfigFollower, type ConfigFollowerOptions } from './follow-config.ts';

export interface EdgeApi extends TestApi {
  readonly url: string;
  /** Registers an edge and returns its token. Each has its own address. */
  makeEdge(name: string, region?: string): Promise<string>;
  /** Follows as this edge until the API stops. */
  follow(token: string, options?: Partial<ConfigFollowerOptions>): ConfigFollower;
}

export async function startEdgeApi(options: TestApiOptions = {}): Promise<EdgeApi> {
  const api = await startTestApi(options);
  const listeners: HttpListeners = await listenHttp(api.app, [{ address: '127.0.0.1', port: 0 }]);
  const url = `http://127.0.0.1:${listeners.addresses[0]?.port}`;
  const followers: ConfigFollower[] = [];
  let edges = 0;
  return {
    ...api,
    url,
    async makeEdge(name, region = 'eu') {
      edges++;
      const v4 = [`192.0.2.${edges}`];
      const created = await createEdge(api.db, { name, region, v4, v6: [] });
      if (created.kind !== 'created') throw new Error(`${name}: ${created.kind}`);
      return created.token;
    },
    follow(token, more = {}) {
      const follower = new ConfigFollower({ url, token, ...more });
      followers.push(follower);
      follower.start();
      return follower;
    },
    async stop() {
      await Promise.all(followers.map((follower) => follower.stop()));
      await listeners.close(0);
      await api.stop();
    },
  };
}
