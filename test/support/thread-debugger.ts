import { Session } from 'node:inspector';

/**
 * Evaluates an expression in the thread of this process with the given purpose (such as `services`), as a debugger
 * does.
 */
export async function evaluateInThread(purpose: string, expression: string): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await new Promise<void>((resolve, reject) => {
      session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
        if (!workerInfo.title.endsWith(`] ${purpose}`)) return;
        const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } });
        session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
      });
      session.on('NodeWorker.receivedMessageFromWorker', () => {
        resolve();
      });
      session.post('NodeWorker.enable', { waitForDebuggerOnStart: false }, (error) => {
        if (error !== null) reject(error);
      });
    });
  } finally {
    session.disconnect();
  }
}
