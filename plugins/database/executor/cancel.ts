import { connect as connectSocket, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

/** What the server gave at connect, and where it was. */
export interface CancelTarget {
  readonly host: string;
  readonly port: number;
  readonly tls: ConnectionOptions | undefined;
  readonly processId: number;
  readonly secretKey: number;
}

const SSL_REQUEST = message(8, [80_877_103]);

/**
 * Asks the server to cancel what a connection runs (CancelRequest, PostgreSQL protocol 3.0, on a connection of its own).
 * Resolves when the server has closed the connection, which it does after the signal was sent; there is no answer.
 */
export async function requestCancel(target: CancelTarget, timeoutMs: number): Promise<void> {
  const socket = connectSocket(target.port, target.host);
  const failure = setTimeout(() => socket.destroy(new Error('the cancel request was not taken in time')), timeoutMs);
  try {
    await once(socket, 'connect');
    const channel = target.tls === undefined ? socket : await secure(socket, target);
    channel.end(message(16, [80_877_102, target.processId, target.secretKey]));
    channel.resume();
    if (!channel.closed) await once(channel, 'close');
  } finally {
    clearTimeout(failure);
    socket.destroy();
  }
}

async function secure(socket: Socket, target: CancelTarget): Promise<Socket> {
  socket.write(SSL_REQUEST);
  const answer = (await once(socket, 'data')) as Buffer;
  if (answer[0] !== 0x53) throw new Error('the server does not take TLS for cancel requests');
  const channel = connectTls({ ...target.tls, socket, host: target.host });
  await once(channel, 'secureConnect');
  return channel;
}

/** The first event of that name, or the socket's error. */
async function once(socket: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.once('error', reject);
  });
}

/** Length and 32-bit fields, big-endian; these messages have no type byte. */
function message(length: number, fields: readonly number[]): Buffer {
  const buffer = Buffer.alloc(length);
  buffer.writeInt32BE(length, 0);
  fields.forEach((field, index) => buffer.writeInt32BE(field | 0, 4 + 4 * index));
  return buffer;
}
