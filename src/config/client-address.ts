import { isIPv4, isIPv6 } from 'node:net';

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
