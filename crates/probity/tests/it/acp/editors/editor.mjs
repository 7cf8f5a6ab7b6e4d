// An editor made of the TypeScript SDK: it starts the agent that its arguments name, and does what
// each line of its input says. Every permission is given.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";

const acp = await import(process.env.ACP_SDK);
const [program, ...words] = process.argv.slice(2);
const agent = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
const said = new Map();
let permissions = 0;

const app = acp
  .client({ name: "editor" })
  .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
    permissions += 1;
    const allowed = params.options.find((option) => option.kind.startsWith("allow"));
    return { outcome: { outcome: "selected", optionId: allowed.optionId } };
  })
  .onNotification(acp.methods.client.session.update, ({ params }) => {
    const { sessionUpdate, content } = params.update;
    if (sessionUpdate === "agent_message_chunk" && content.type === "text") {
      said.set(params.sessionId, (said.get(params.sessionId) ?? "") + content.text);
    }
  });

const write = (message) => process.stdout.write(JSON.stringify(message) + "\n");

async function act(context, { id, method, params }) {
  try {
    if (method === acp.methods.agent.session.prompt) {
      said.delete(params.sessionId);
    }
    if (method === acp.methods.agent.session.cancel) {
      await context.notify(method, params);
      return;
    }
    const result = await context.request(method, params);
    write({ id, result, said: said.get(params.sessionId) ?? "", permissions });
  } catch (error) {
    write({ id, error: { code: error.code ?? null, message: String(error.message) } });
  }
}

const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
await app.connectWith(stream, async (context) => {
  for await (const line of createInterface({ input: process.stdin })) {
    act(context, JSON.parse(line));
  }
});
agent.stdin.end();
agent.on("exit", (code) => process.exit(code ?? 1));
