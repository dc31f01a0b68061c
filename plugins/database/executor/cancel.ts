import { connect as connectSocket, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

/** Address of the server and the backend key data that it sent at connect. */
export interface CancelTarget {
  readonly host: string;
  readonly port: number;
  readonly tls: ConnectionOptions | undefined;
  readonly processId: number;
  readonly secretKey: number;
}

const SSL_REQUEST = message(8, [80_877_103]);

/**
 * Sends a CancelRequest (PostgreSQL protocol 3.0) on a separate connection. Resolves once the server closes that
 * connection, which it does after signalling the backend; there is no response. As in libpq, this side does not close the
 * connection first: pgbouncer 1.18 may crash then (its issue 801).
 */
export async function requestCancel(target: CancelTarget, timeoutMs: number): Promise<void> {
  const socket = connectSocket(target.port, target.host);
  const failure = setTimeout(() => socket.destroy(new Error('the cancel request timed out')), timeoutMs);
  try {
    await once(socket, 'connect');
    const channel = target.tls === undefined ? socket : await secure(socket, target);
    channel.write(message(16, [80_877_102, target.processId, target.secretKey]));
    channel.resume();
    if (!channel.closed) await once(channel, 'close');
  } finally {
    clearTimeout(failure);
    socket.destroy();
  }
}

async function secure(socket: Socket, target: CancelTarget): Promise<Socket> {
  socket.write(SSL_REQUEST);
  const response = (await once(socket, 'data')) as Buffer;
  if (response[0] !== 0x53) throw new Error('the server does not accept TLS for cancel requests');
  const channel = connectTls({ ...target.tls, socket, host: target.host });
  await once(channel, 'secureConnect');
  return channel;
}

async function once(socket: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.once('error', reject);
  });
}

/** Length and 32-bit fields in big-endian order; these messages have no type byte. */
function message(length: number, fields: readonly number[]): Buffer {
  const buffer = Buffer.alloc(length);
  buffer.writeInt32BE(length, 0);
  fields.forEach((field, index) => buffer.writeInt32BE(field | 0, 4 + 4 * index));
  return buffer;
}
