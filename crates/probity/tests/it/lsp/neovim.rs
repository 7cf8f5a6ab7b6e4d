//! A real editor: Neovim from Debian.

use std::{
    fs,
    process::{Command, Stdio},
};

use crate::binary::directory;

/// Opens a file, waits for diagnostics, and applies the preferred fix at the first one.
const NEOVIM: &str = r#"
local function finish(what)
  io.stdout:write(what .. "\n")
  vim.cmd("qall!")
end
vim.cmd("edit Dockerfile")
vim.bo.filetype = "dockerfile"
local client = vim.lsp.start_client({
  name = "probity",
  cmd = { vim.env.PROBITY, "lsp", "--stdio" },
  root_dir = vim.fn.getcwd(),
})
vim.lsp.buf_attach_client(0, client)
local function found()
  return #vim.diagnostic.get(0) > 0
end
if not vim.wait(30000, found, 20) then
  return finish("no diagnostics")
end
local first = vim.diagnostic.get(0)[1]
io.stdout:write(first.source .. " " .. tostring(first.code or "") .. " " .. first.message .. "\n")
vim.api.nvim_win_set_cursor(0, { first.lnum + 1, first.col })
local params = vim.lsp.util.make_range_params()
params.context = { diagnostics = {} }
local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 30000)
for _, action in ipairs(answers[client].result) do
  if action.isPreferred then
    if not action.edit then
      local resolved = vim.lsp.buf_request_sync(0, "codeAction/resolve", action, 30000)
      action = resolved[client].result
    end
    vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
    vim.cmd("silent write")
    local function gone()
      return #vim.diagnostic.get(0) == 0
    end
    return finish(vim.wait(30000, gone, 20) and "fixed" or "still there")
  end
end
finish("no action")
"#;

#[test]
fn neovim_sees_a_finding_and_applies_its_fix() {
    let text = "# é😀\nFROM scratch AS Bad\nCOPY a /\n";
    let dir = directory(&[("Dockerfile", text), ("script.lua", NEOVIM)]);
    let output = Command::new("nvim")
        .args(["--headless", "-u", "NONE", "-i", "NONE", "-c", "luafile script.lua"])
        .current_dir(&dir)
        .env("PROBITY", env!("CARGO_BIN_EXE_probity"))
        .env("HOME", dir.path())
        .stdin(Stdio::null())
        .output()
        .expect("nvim is missing: run script/tools once");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let finding = "buildkit/StageNameCasing Stage name 'Bad' should be lowercase";
    assert_eq!(said, format!("probity {finding}\nfixed\n"), "{errors}");
    let now = fs::read_to_string(dir.path().join("Dockerfile")).unwrap();
    assert_eq!(now, text.replace("Bad", "bad"));
}
