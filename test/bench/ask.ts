import { request, type Agent } from 'node:http';

/** Sends GET and reads the whole response. Rejects for any status other than 200. */
export async function ask(agent: Agent, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = request(url, { agent }, (response) => {
      response.resume();
      response.on('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`GET ${url}: ${String(response.statusCode)}`));
      });
    });
    call.on('error', reject);
    call.end();
  });
}
