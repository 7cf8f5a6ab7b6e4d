package accounts

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func closeAs(user string) (int, bool) {
	server := Server{Owners: map[string]string{"1": "ada"}}
	request := httptest.NewRequest("POST", "/close?account=1", nil)
	request.Header.Set("X-User", user)
	recorder := httptest.NewRecorder()
	server.Close(recorder, request)
	_, open := server.Owners["1"]
	return recorder.Code, open
}

func TestNobodyClosesTheAccountsOfOthers(t *testing.T) {
	if _, open := closeAs("bob"); !open {
		t.Fatal("bob closed the account of ada")
	}
}

func TestOwnersCloseTheirAccounts(t *testing.T) {
	if code, open := closeAs("ada"); code != http.StatusNoContent || open {
		t.Fatal(code, open)
	}
}
