import { isIPv4, isIPv6 } from 'node:net';

/** Converts IPv4-mapped addresses of a dual-stack socket to IPv4. */
export function plainAddress(address: string): string {
  const mapped = address.toLowerCase().startsWith('::ffff:') ? address.slice('::ffff:'.length) : '';
  return isIPv4(mapped) ? mapped : address;
}

/**
 * The unit that counts as one client: an IPv4 address, or an IPv6 network of 64 bits, because a single host may own all
 * addresses of such a network.
 */
export function addressGroup(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::');
  const parts = head === '' ? [] : head.split(':');
  const trailing = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - parts.length - trailing.length);
  const groups = [...parts, ...Array.from({ length: zeros }, () => '0'), ...trailing];
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
