package accounts

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestUnknownAccountsAreNotFound(t *testing.T) {
	server := Server{Owners: map[string]string{}}
	recorder := httptest.NewRecorder()
	server.Close(recorder, httptest.NewRequest("POST", "/close?account=9", nil))
	if recorder.Code != http.StatusNotFound {
		t.Fatal(recorder.Code)
	}
}
