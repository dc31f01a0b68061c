import { connect } from 'node:net';

// Metadata request v1 (4.x brokers accept v0 and later) for no topics: size, api key 3, version 1, correlation id,
// null client id, empty topic array. The answer starts with size, correlation id and the number of brokers.
const metadataRequest = Buffer.from('0000000e0003000100000001ffff00000000', 'hex');

/**
 * Whether the broker at 127.0.0.1:`port` serves requests and is registered in its own cluster. A listening port is not
 * enough: it is open more than a second before the broker answers.
 */
export async function answersMetadata(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: 2000 });
    let answer = Buffer.alloc(0);
    const finish = (registered: boolean): void => {
      socket.destroy();
      resolve(registered);
    };
    socket.on('connect', () => socket.write(metadataRequest));
    socket.on('data', (chunk) => {
      answer = Buffer.concat([answer, chunk]);
      if (answer.length >= 12) finish(answer.readInt32BE(8) > 0);
    });
    for (const end of ['error', 'timeout', 'close'] as const) {
      socket.on(end, () => {
        finish(false);
      });
    }
  });
}
