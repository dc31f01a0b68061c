import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { ConfigError } from '../../../src/index.ts';

/** Whose `X-Forwarded-For` is believed. */
export class TrustedProxies {
  readonly #list = new BlockList();

  /** Addresses, or networks as `10.0.0.0/8`. ConfigError for anything else. */
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
   * The address of a request's client: the other end's, and behind a trusted proxy the last one in `X-Forwarded-For` that no trusted
   * proxy has. What stands before it may have been made up by the client.
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

/** IPv4 addresses of a socket that takes both kinds, as IPv4 addresses. */
export function plainAddress(address: string): string {
  const mapped = address.toLowerCase().startsWith('::ffff:') ? address.slice('::ffff:'.length) : '';
  return isIPv4(mapped) ? mapped : address;
}

/** What counts as one client: an IPv4 address, or a network of 64 bits, of which one host has all addresses. */
export function addressGroup(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::');
  const parts = head === '' ? [] : head.split(':');
  const behind = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - parts.length - behind.length);
  const groups = [...parts, ...Array.from({ length: zeros }, () => '0'), ...behind];
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}

function withoutPort(hop: string): string {
  if (hop.startsWith('[')) return hop.slice(1, hop.indexOf(']'));
  const colon = hop.indexOf(':');
  return colon >= 0 && colon === hop.lastIndexOf(':') ? hop.slice(0, colon) : hop;
}
