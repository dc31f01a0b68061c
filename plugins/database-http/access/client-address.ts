import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { ConfigError, plainAddress } from '../../../src/index.ts';

/** Proxies whose `X-Forwarded-For` header is trusted. */
export class TrustedProxies {
  readonly #list = new BlockList();

  /** `entries` are addresses, or networks such as `10.0.0.0/8`. Throws a ConfigError for an invalid entry. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const [address = '', bits, ...rest] = entry.split('/');
      const family = isIPv4(address) ? 'ipv4' : 'ipv6';
      const length = bits === undefined ? undefined : Number(bits);
      const isNetwork =
        length === undefined || (/^\d{1,3}$/.test(bits ?? '') && length <= (family === 'ipv4' ? 32 : 128));
      if (isIP(address) === 0 || !isNetwork || rest.length > 0) {
        throw new ConfigError(
          `database.http.trusted.proxies: ${entry} is neither an IP address nor a network such as 10.0.0.0/8`,
        );
      }
      if (length === undefined) this.#list.addAddress(address, family);
      else this.#list.addSubnet(address, length, family);
    }
  }

  has(address: string): boolean {
    return this.#list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  }

  /**
   * The address of a request's client. Without a trusted proxy, it is the peer of the connection. Behind a trusted
   * proxy, it is the last address in `X-Forwarded-For` that does not belong to a trusted proxy; the client may have
   * forged the entries before it. If all entries are trusted proxies, it is the first one.
   */
  clientOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    let client = plainAddress(socket.remoteAddress ?? '');
    const forwarded = headers['x-forwarded-for'];
    const hops = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',');
    while (hops.length > 0 && isIP(client) !== 0 && this.has(client)) {
      const hop = plainAddress(withoutPort((hops.pop() ?? '').trim()));
      if (isIP(hop) === 0) break;
      client = hop;
    }
    return client;
  }
}

function withoutPort(hop: string): string {
  if (hop.startsWith('[')) return hop.slice(1, hop.indexOf(']'));
  const colon = hop.indexOf(':');
  return colon >= 0 && colon === hop.lastIndexOf(':') ? hop.slice(0, colon) : hop;
}
