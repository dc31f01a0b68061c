import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { connect } from '../../../../../plugins/database/executor/connect.ts';
import { parseConnectionUrl } from '../../../../../plugins/database/executor/connection-url.ts';
import { DatabaseError } from '../../../../../src/errors.ts';

const SSL_REQUEST = 80_877_103;

/** A server without TLS that refuses every login with this error. */
async function refusingServer(sqlstate: string, message: string): Promise<net.Server> {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlstate}\0M${message}\0\0`);
  const header = Buffer.alloc(5);
  header.write('E');
  header.writeInt32BE(4 + fields.length, 1);
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      if (data.readInt32BE(4) === SSL_REQUEST) socket.write('N');
      else socket.end(Buffer.concat([header, fields]));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('a connection with sslmode=prefer to a server without TLS', () => {
  it('fails with the reason why the server refuses the attempt without TLS', async () => {
    const reason = 'role "nobody" does not exist';
    const server = await refusingServer('28000', reason);
    try {
      const { port } = server.address() as AddressInfo;
      const settings = parseConnectionUrl(`postgresql://nobody@127.0.0.1:${String(port)}/d`);
      await assert.rejects(connect(settings), (error) => {
        assert.ok(error instanceof DatabaseError);
        assert.equal(error.sqlstate, '28000');
        assert.match(error.message, /role "nobody" does not exist$/);
        return true;
      });
    } finally {
      server.close();
      await once(server, 'close');
    }
  });
});
