import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { TcpProxy } from '../../support/proxy.ts';

describe('the proxy that breaks connections', () => {
  let server: Server;
  let proxy: TcpProxy;

  beforeEach(async () => {
    server = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    proxy = await TcpProxy.start({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  });

  afterEach(async () => {
    await proxy.close();
    server.close();
    await once(server, 'close');
  });

  async function dial(): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port: proxy.port });
    await once(socket, 'connect');
    return socket;
  }

  async function echo(socket: Socket, text: string): Promise<string> {
    socket.write(text);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    return answer.toString();
  }

  it('passes bytes both ways, until it cuts the connection', async () => {
    const socket = await dial();
    assert.equal(await echo(socket, 'one'), 'one');
    assert.equal(proxy.connections, 1);
    proxy.cut();
    await assert.rejects(once(socket, 'end'), { code: 'ECONNRESET' });
    const again = await dial();
    assert.equal(await echo(again, 'two'), 'two');
    again.destroy();
  });

  it('refuses every connection until it is set to pass', async () => {
    proxy.refuse();
    const refused = connect({ host: '127.0.0.1', port: proxy.port });
    await assert.rejects(once(refused, 'end'), { code: 'ECONNRESET' });
    proxy.pass();
    const socket = await dial();
    assert.equal(await echo(socket, 'one'), 'one');
    socket.destroy();
  });

  it('holds back what is sent while it stalls, and loses nothing', async () => {
    const socket = await dial();
    assert.equal(await echo(socket, 'one'), 'one');
    proxy.stall();
    let held = true;
    const answer = echo(socket, 'two').finally(() => {
      held = false;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(held, true);
    proxy.pass();
    assert.equal(await answer, 'two');
    socket.destroy();
  });
});
